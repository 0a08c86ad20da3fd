#include "gpu/spmm/out_of_core/pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/base/stopwatch.h"
#include "core/base/team.h"
#include "core/matrix/dense_block.h"

namespace csrkit::gpu {

namespace {

std::byte* on_host(const Region& region, const Piece& piece) {
  return region.host + static_cast<std::size_t>(piece.first_row) * region.pitch_bytes +
         piece.first_byte;
}

void pack(std::byte* to, const Region& region, const Piece& piece) {
  if (region.narrows) {
    const auto* from = reinterpret_cast<const Offset*>(region.host) + piece.first_row;
    auto* const numbers = reinterpret_cast<std::uint32_t*>(to);
    for (Offset i = 0; i < piece.rows; ++i) {
      numbers[i] = static_cast<std::uint32_t>(from[i] - region.base);
    }
    return;
  }
  pack_rows(to, {on_host(region, piece), region.pitch_bytes}, piece.bytes, piece.rows);
}

void unpack(const std::byte* from, const Region& region, const Piece& piece) {
  unpack_rows({on_host(region, piece), region.pitch_bytes}, from, piece.bytes, piece.rows);
}

std::byte* on_device(const Region& region, const Piece& piece) {
  return region.device + static_cast<std::size_t>(piece.first_row) * region.row_bytes +
         piece.first_byte;
}

/// Ends a thread because another one failed; it is never reported.
struct Stopped {};

}  // namespace

std::vector<Piece> pieces_of(Index batch, Index region, const Region& whole,
                             std::size_t most_bytes) {
  if (whole.is_locked) most_bytes *= 8;
  std::vector<Piece> pieces;
  if (whole.rows == 0 || whole.row_bytes == 0) return pieces;
  const auto rows_each = static_cast<Offset>(most_bytes / whole.row_bytes);
  if (rows_each > 0) {
    for (Offset row = 0; row < whole.rows; row += rows_each) {
      pieces.push_back(
          {batch, region, row, std::min(rows_each, whole.rows - row), 0, whole.row_bytes});
    }
    return pieces;
  }
  for (Offset row = 0; row < whole.rows; ++row) {
    for (std::size_t byte = 0; byte < whole.row_bytes; byte += most_bytes) {
      pieces.push_back({batch, region, row, 1, byte, std::min(most_bytes, whole.row_bytes - byte)});
    }
  }
  return pieces;
}

std::vector<Piece> in_order(const std::vector<InBatch>& batches, const std::vector<Index>& first,
                            const std::vector<StepLoads>& loads, std::size_t most_bytes) {
  std::vector<Piece> order;
  const auto pieces_of_batch = [&](Index batch) {
    std::vector<Piece> pieces;
    const std::vector<Region>& regions = batches[static_cast<std::size_t>(batch)].regions;
    for (std::size_t region = 0; region < regions.size(); ++region) {
      const std::vector<Piece> more =
          pieces_of(batch, static_cast<Index>(region), regions[region], most_bytes);
      pieces.insert(pieces.end(), more.begin(), more.end());
    }
    return pieces;
  };
  const auto append = [&](Index batch, Index turn, Index turns) {
    const std::vector<Piece> pieces = pieces_of_batch(batch);
    const auto all = static_cast<Offset>(pieces.size());
    order.insert(order.end(), pieces.begin() + all * turn / turns,
                 pieces.begin() + all * (Offset{turn} + 1) / turns);
  };
  for (const Index batch : first) append(batch, 0, 1);
  for (const StepLoads& step : loads) {
    for (const Index batch : step.own) append(batch, 0, 1);
    if (step.ahead >= 0) append(step.ahead, step.turn, step.turns);
  }
  return order;
}

void Pipeline::Slot::wait() {
  if (is_pending) CHECK_CUDA(cudaEventSynchronize(copied.get()));
  is_pending = false;
}

/// One pass through a schedule.
class Pipeline::Run {
 public:
  Run(Pipeline& pipeline, const Schedule& schedule)
      : pipeline_(pipeline),
        schedule_(schedule),
        in_left_(schedule.in.size(), 0),
        out_left_(schedule.out.size(), 0) {
    for (const Piece& piece : schedule.in_order) ++in_left_[static_cast<std::size_t>(piece.batch)];
    for (std::size_t step = 0; step < schedule.out.size(); ++step) {
      const std::vector<Piece> pieces =
          pieces_of(static_cast<Index>(step), 0, schedule.out[step].region, kPieceBytes);
      out_left_[step] = pieces.size();
      out_order_.insert(out_order_.end(), pieces.begin(), pieces.end());
    }
  }

  void work() {
    CHECK_CUDA(cudaGetDevice(&device_));
    const std::size_t all = pipeline_.workers_.size();
    const std::size_t feeders = out_order_.empty() ? all : all / 2;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < all; ++i) {
      threads.emplace_back([this, i, feeders] {
        guarded([&] {
          const DeviceScope scope(device_);
          Worker& worker = pipeline_.workers_[i];
          if (i < feeders) {
            feed(worker);
          } else {
            drain(worker);
          }
        });
      });
    }
    guarded([this] { issue_steps(); });
    for (std::thread& thread : threads) thread.join();
    for (Worker& worker : pipeline_.workers_) {
      for (Slot& slot : worker.slots) slot.is_pending = false;
    }
    if (error_) {  // no copy may be in flight when buffers or operands are released
      CHECK_CUDA_NOEXCEPT(cudaDeviceSynchronize());
      std::rethrow_exception(error_);
    }
    pipeline_.in_.wait();
    pipeline_.out_.wait();
  }

 private:
  template <class F>
  void guarded(F&& f) {
    try {
      f();
    } catch (const Stopped&) {
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
      changed_.notify_all();
    }
  }

  template <class Holds>
  void wait_until(std::unique_lock<std::mutex>& lock, Holds&& holds) {
    changed_.wait(lock, [&] { return error_ != nullptr || holds(); });
    if (error_) throw Stopped();
  }

  bool is_drained(Index step) const {
    return step < 0 || out_left_[static_cast<std::size_t>(step)] == 0;
  }

  const Piece* take(const std::vector<Piece>& order, std::size_t* next) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error_) throw Stopped();
    return *next < order.size() ? &order[(*next)++] : nullptr;
  }

  void feed(Worker& worker) {
    const cudaStream_t stream = pipeline_.in_.get();
    for (int turn = 0;; turn ^= 1) {
      const Piece* const piece = take(schedule_.in_order, &next_in_);
      if (piece == nullptr) return;
      const auto number = static_cast<std::size_t>(piece->batch);
      const InBatch& batch = schedule_.in[number];
      const Region& region = batch.regions[static_cast<std::size_t>(piece->region)];
      Slot& slot = worker.slots[turn];
      const std::byte* from = region.host;
      if (region.is_locked) {
        from = on_host(region, *piece);
      } else {
        slot.wait();
        pack(slot.data, region, *piece);
        from = slot.data;
      }
      std::unique_lock<std::mutex> lock(mutex_);
      wait_until(lock,
                 [&] { return issued_ > batch.after_issued && is_drained(batch.after_drained); });
      lock.unlock();
      if (batch.is_free != nullptr) CHECK_CUDA(cudaStreamWaitEvent(stream, batch.is_free, 0));
      CHECK_CUDA(cudaMemcpyAsync(on_device(region, *piece), from, piece->size(),
                                 cudaMemcpyHostToDevice, stream));
      if (!region.is_locked) {
        CHECK_CUDA(cudaEventRecord(slot.copied.get(), stream));
        slot.is_pending = true;
      }
      lock.lock();
      if (--in_left_[number] > 0) continue;
      CHECK_CUDA(cudaEventRecord(batch.loaded, stream));
      changed_.notify_all();
    }
  }

  void drain(Worker& worker) {
    const cudaStream_t stream = pipeline_.out_.get();
    const Piece* before = nullptr;  // its copy is in flight
    Slot* before_slot = nullptr;
    const auto finish = [&] {
      if (before == nullptr) return;
      before_slot->wait();
      unpack(before_slot->data, schedule_.out[static_cast<std::size_t>(before->batch)].region,
             *before);
      before = nullptr;
    };
    for (int turn = 0;; turn ^= 1) {
      const Piece* const piece = take(out_order_, &next_out_);
      if (piece == nullptr) return finish();
      const auto step = static_cast<std::size_t>(piece->batch);
      const OutBatch& batch = schedule_.out[step];
      Slot& slot = worker.slots[turn];
      std::unique_lock<std::mutex> lock(mutex_);
      if (issued_ <= piece->batch) {  // not urgent
        lock.unlock();
        finish();
        lock.lock();
        wait_until(lock, [&] { return issued_ > piece->batch; });
      }
      lock.unlock();
      CHECK_CUDA(cudaStreamWaitEvent(stream, batch.computed, 0));
      const bool is_locked = batch.region.is_locked;
      std::byte* const to = is_locked ? on_host(batch.region, *piece) : slot.data;
      CHECK_CUDA(cudaMemcpyAsync(to, on_device(batch.region, *piece), piece->size(),
                                 cudaMemcpyDeviceToHost, stream));
      if (!is_locked) {
        CHECK_CUDA(cudaEventRecord(slot.copied.get(), stream));
        slot.is_pending = true;
      }
      lock.lock();
      if (--out_left_[step] == 0) {
        CHECK_CUDA(cudaEventRecord(batch.drained, stream));
        changed_.notify_all();
      }
      lock.unlock();
      finish();
      if (is_locked) continue;  // complete when the stream is
      before = piece;
      before_slot = &slot;
    }
  }

  void issue_steps() {
    for (const Step& step : schedule_.steps) {
      std::unique_lock<std::mutex> lock(mutex_);
      wait_until(lock, [&] {
        return is_drained(step.after_drained) &&
               std::all_of(step.needs.begin(), step.needs.end(), [&](Index batch) {
                 return in_left_[static_cast<std::size_t>(batch)] == 0;
               });
      });
      lock.unlock();
      step.issue();
      lock.lock();
      ++issued_;
      changed_.notify_all();
    }
  }

  Pipeline& pipeline_;
  const Schedule& schedule_;
  int device_ = 0;
  std::vector<Piece> out_order_;

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::exception_ptr error_;
  // of each batch: pieces whose copies are not queued yet
  std::vector<std::size_t> in_left_, out_left_;
  std::size_t next_in_ = 0, next_out_ = 0;
  Index issued_ = 0;  // steps
};

namespace {
/// At least one thread for each direction.
std::size_t workers_of(int threads) {
  return static_cast<std::size_t>(std::max(team_size(threads), 2));
}
}  // namespace

Pipeline::Pipeline(int threads) : in_(nullptr), out_(nullptr), workers_(workers_of(threads)) {
  CHECK_CUDA(cudaHostAlloc(&staging_, staging_bytes(), cudaHostAllocDefault));
  std::byte* next = staging_;
  for (Worker& worker : workers_) {
    for (Slot& slot : worker.slots) {
      slot.data = next;
      next += kPieceBytes;
    }
  }
}

Pipeline::~Pipeline() { CHECK_CUDA_NOEXCEPT(cudaFreeHost(staging_)); }

std::uint64_t Pipeline::staging_bytes() const { return workers_.size() * 2 * kPieceBytes; }

std::uint64_t Pipeline::staging_bytes_of(int threads) {
  return workers_of(threads) * 2 * kPieceBytes;
}

void Pipeline::run(const Schedule& schedule) { Run(*this, schedule).work(); }

double Pipeline::copy_bytes_per_second(std::byte* to, std::byte* from, std::size_t bytes) {
  constexpr std::size_t kAll = std::size_t{256} << 20;
  const std::size_t piece = std::min(bytes, kPieceBytes);
  if (piece == 0) return 0;
  const std::size_t count = std::max<std::size_t>(std::min(kAll, 64 * bytes) / piece, 1);
  const std::size_t slots = staging_bytes() / kPieceBytes / 2, places = bytes / piece;
  // not zeros, which might be compressed
  CHECK_CUDA(cudaMemsetAsync(from, 0x5a, places * piece, out_.get()));
  double seconds = 0;
  for (int round = 0; round < 2; ++round) {  // the first round warms up
    const Stopwatch watch;
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const slot = staging_ + i % slots * kPieceBytes;
      CHECK_CUDA(
          cudaMemcpyAsync(to + i % places * piece, slot, piece, cudaMemcpyHostToDevice, in_.get()));
      CHECK_CUDA(cudaMemcpyAsync(slot + slots * kPieceBytes, from + i % places * piece, piece,
                                 cudaMemcpyDeviceToHost, out_.get()));
    }
    in_.wait();
    out_.wait();
    seconds = watch.seconds();
  }
  return static_cast<double>(piece * count) / seconds;
}

}  // namespace csrkit::gpu
