#include "gpu/device/staged_copies.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/base/huge_pages.h"
#include "core/base/team.h"
#include "core/base/team_errors.h"
#include "core/matrix/dense_block.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/page_locked_memory.h"
#include "gpu/device/streams/stream.h"

namespace csrkit::gpu {

namespace {

// The size of a large page, and small enough for a core's cache: with 4 MiB, copies to the host
// took 1.25 times as long.
constexpr std::size_t kPieceBytes = std::size_t{2} << 20;
/// Bytes below which threads cost more than they save.
constexpr std::uint64_t kWorthThreads = std::uint64_t{16} << 20;
/// To fresh host memory, 8, 16, 24 and 32 threads took 132, 85, 74 and 73 ms for 3.3 GB.
constexpr int kMostThreads = 24;
// of a thread: the device copies one while the thread works on the other
constexpr std::size_t kSlots = 2;

/// Pieces of page-locked memory. They live as long as the process, because locking takes as long as
/// copying. Never destroyed: at exit the driver may already be gone.
class FreePieces {
 public:
  static FreePieces& of_process() {
    static auto* const pieces = new FreePieces;
    return *pieces;
  }

  /// Empty where the system refuses to lock memory.
  std::vector<std::byte*> take(std::size_t count, int threads) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.size() < count) {
      const std::size_t missing = count - free_.size();
      free_.reserve(made_ + missing);  // give_back must not throw
      try {
        blocks_.reserve(blocks_.size() + 1);
        blocks_.emplace_back(missing * kPieceBytes, threads);
      } catch (const MemoryError&) {
        return {};
      }
      made_ += missing;
      for (std::size_t i = 0; i < missing; ++i) {
        free_.push_back(blocks_.back().data() + i * kPieceBytes);
      }
    }
    std::vector<std::byte*> taken(free_.end() - static_cast<std::ptrdiff_t>(count), free_.end());
    free_.resize(free_.size() - count);
    return taken;
  }

  void give_back(const std::vector<std::byte*>& pieces) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.insert(free_.end(), pieces.begin(), pieces.end());
  }

 private:
  std::mutex mutex_;
  std::vector<PageLockedMemory> blocks_;
  std::vector<std::byte*> free_;
  std::size_t made_ = 0;
};

/// Pieces of this scope; the owner waits for the copies before it ends.
class TakenPieces {
 public:
  TakenPieces(std::size_t count, int threads)
      : pieces_(FreePieces::of_process().take(count, threads)) {}
  ~TakenPieces() { FreePieces::of_process().give_back(pieces_); }
  TakenPieces(const TakenPieces&) = delete;
  TakenPieces& operator=(const TakenPieces&) = delete;
  bool are_there() const { return !pieces_.empty(); }
  std::byte* operator[](std::size_t i) const { return pieces_[i]; }

 private:
  std::vector<std::byte*> pieces_;
};

/// One of a thread's two pieces, and the copy under way in it.
struct Slot {
  explicit Slot(std::byte* memory) : data(memory) {
    CHECK_CUDA(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming | cudaEventBlockingSync));
  }
  ~Slot() { CHECK_CUDA_NOEXCEPT(cudaEventDestroy(copied)); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  void wait() {
    if (piece.bytes > 0) CHECK_CUDA(cudaEventSynchronize(copied));
  }

  std::byte* data;
  cudaEvent_t copied = nullptr;
  StagedCopy piece;  // no bytes: nothing is under way
};

/// Cuts at host addresses that are multiples of kPieceBytes, so that two threads seldom fault in
/// the same large page.
std::vector<StagedCopy> pieces_of(const std::vector<StagedCopy>& copies, bool is_to_host) {
  std::vector<StagedCopy> pieces;
  for (const StagedCopy& copy : copies) {
    const auto host = reinterpret_cast<std::uintptr_t>(is_to_host ? copy.to : copy.from);
    std::uint64_t bytes = kPieceBytes - host % kPieceBytes;
    for (std::uint64_t at = 0; at < copy.bytes; at += bytes, bytes = kPieceBytes) {
      bytes = std::min(bytes, copy.bytes - at);
      pieces.push_back({static_cast<std::byte*>(copy.to) + at,
                        static_cast<const std::byte*>(copy.from) + at, bytes});
    }
  }
  return pieces;
}

/// One thread's work: takes the next piece until there are no more.
class Worker {
 public:
  Worker(std::byte* first, std::byte* second, cudaStream_t stream)
      : slots_{Slot(first), Slot(second)}, stream_(stream) {}

  void to_host(const std::vector<StagedCopy>& pieces, std::atomic<std::size_t>* next) {
    const auto start = [&](Slot& slot) {
      const std::size_t number = next->fetch_add(1);
      slot.piece = number < pieces.size() ? pieces[number] : StagedCopy{};
      if (slot.piece.bytes == 0) return;
      queue(slot, slot.data, slot.piece.from, cudaMemcpyDeviceToHost);
    };
    for (Slot& slot : slots_) start(slot);
    for (std::size_t turn = 0; slots_[turn].piece.bytes > 0; turn = (turn + 1) % kSlots) {
      Slot& slot = slots_[turn];
      slot.wait();
      // Non-temporal stores: nobody reads C soon, and lines need not be read before they are
      // written.
      unpack_rows({static_cast<std::byte*>(slot.piece.to), slot.piece.bytes}, slot.data,
                  slot.piece.bytes, 1);
      start(slot);
    }
  }

  void to_device(const std::vector<StagedCopy>& pieces, std::atomic<std::size_t>* next) {
    for (std::size_t turn = 0;; turn = (turn + 1) % kSlots) {
      const std::size_t number = next->fetch_add(1);
      if (number >= pieces.size()) return;
      Slot& slot = slots_[turn];
      slot.wait();
      slot.piece = pieces[number];
      std::memcpy(slot.data, slot.piece.from, slot.piece.bytes);
      queue(slot, slot.piece.to, slot.data, cudaMemcpyHostToDevice);
    }
  }

 private:
  void queue(Slot& slot, void* to, const void* from, cudaMemcpyKind way) const {
    CHECK_CUDA(cudaMemcpyAsync(to, from, slot.piece.bytes, way, stream_));
    CHECK_CUDA(cudaEventRecord(slot.copied, stream_));
  }

  Slot slots_[kSlots];
  cudaStream_t stream_;
};

void copy_alone(const std::vector<StagedCopy>& copies, cudaMemcpyKind way, cudaStream_t stream) {
  for (const StagedCopy& copy : copies) {
    if (copy.bytes > 0) CHECK_CUDA(cudaMemcpyAsync(copy.to, copy.from, copy.bytes, way, stream));
  }
}

/// Returns false, with nothing copied, where threads do not pay or no memory can be locked.
bool copy_by_team(const std::vector<StagedCopy>& copies, bool is_to_host, int threads,
                  cudaStream_t stream) {
  std::uint64_t bytes = 0;
  for (const StagedCopy& one : copies) bytes += one.bytes;
  const int team = std::min(team_size(threads), kMostThreads);
  if (bytes < kWorthThreads || team < 2) return false;
  const TakenPieces staging(kSlots * static_cast<std::size_t>(team), team);
  if (!staging.are_there()) return false;
  const std::vector<StagedCopy> pieces = pieces_of(copies, is_to_host);
  int device = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  std::atomic<std::size_t> next{0};
  TeamErrors errors;
  const auto work = [&](int thread) {
    errors.guard([&] {
      const DeviceScope scope(device);
      const std::size_t first = kSlots * static_cast<std::size_t>(thread);
      Worker worker(staging[first], staging[first + 1], stream);
      is_to_host ? worker.to_host(pieces, &next) : worker.to_device(pieces, &next);
    });
  };
  std::vector<std::thread> others;
  errors.guard([&] {
    for (int thread = 1; thread < team; ++thread) others.emplace_back(work, thread);
  });
  work(0);
  for (std::thread& other : others) other.join();
  const cudaError_t status = cudaStreamSynchronize(stream);  // before the pieces go back
  errors.rethrow();
  CHECK_CUDA(status);
  return true;
}

thread_local int upload_threads = 1;

}  // namespace

void copy_to_host(const std::vector<StagedCopy>& copies, int threads, cudaStream_t stream) {
  for (const StagedCopy& copy : copies) advise_huge_pages(copy.to, copy.bytes);
  if (copy_by_team(copies, true, threads, stream)) return;
  for (const StagedCopy& copy : copies) make_pages(copy.to, copy.bytes, threads);
  copy_alone(copies, cudaMemcpyDeviceToHost, stream);
  CHECK_CUDA(cudaStreamSynchronize(stream));
}

void upload(const std::vector<StagedCopy>& copies, cudaStream_t stream) {
  if (upload_threads != 1 && copy_by_team(copies, false, upload_threads, stream)) return;
  copy_alone(copies, cudaMemcpyHostToDevice, stream);
}

UploadTeam::UploadTeam(int threads) : before_(upload_threads) { upload_threads = threads; }

UploadTeam::~UploadTeam() { upload_threads = before_; }

}  // namespace csrkit::gpu
