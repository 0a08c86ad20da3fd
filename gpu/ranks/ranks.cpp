#include "gpu/ranks/ranks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/base/stopwatch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/graph.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/device/timing/head_start.h"
#include "gpu/ranks/meeting.h"
#include "gpu/ranks/rank.h"

namespace csrkit::gpu {

namespace {

constexpr std::chrono::microseconds kPollInterval{20};

class GpuRanks final : public DeviceRanks {
 public:
  GpuRanks(const std::vector<DeviceRank*>& ranks, int all, HaloWay way,
           const std::vector<std::string>& told, const NcclLibrary* nccl, double silence_seconds);
  ~GpuRanks() override;

  void multiply(int products) override;
  SpmmSeconds seconds(std::size_t place) const override {
    SpmmSeconds seconds = phases_[place];
    seconds.total = total_seconds_;
    return seconds;
  }
  std::uint64_t bytes_sent(std::size_t place) const override { return moved_[place].sent; }
  std::uint64_t bytes_received(std::size_t place) const override { return moved_[place].received; }

 private:
  struct Moved {
    std::uint64_t sent = 0, received = 0;
  };
  GpuRank& first() const { return *ranks_.front(); }
  std::size_t place_of(int rank) const;
  void open_memories();
  void open_processes(const std::vector<std::string>& memories);
  bool spans_processes() const { return start_meeting_ != nullptr; }
  void bind(int from);
  void queue();
  void queue_reads();
  void queue_far_reads();
  void queue_messages();
  void warm_up();
  void prepare(int from);
  void wait(int products);
  void require_all_came() const;
  void abort() noexcept;

  std::vector<GpuRank*> ranks_;
  HaloWay way_;
  const NcclLibrary* nccl_;
  double silence_seconds_;
  std::vector<std::unique_ptr<NcclRank>> lines_;  // one for each rank, with HaloWay::nccl
  // With HaloWay::peer over several processes: by rank number; null for this process's rank.
  std::vector<std::unique_ptr<FarRank>> far_;
  std::unique_ptr<Meeting> start_meeting_, sums_meeting_;  // the second where there are sums
  std::vector<Moved> moved_;
  std::vector<SpmmSeconds> phases_;
  double total_seconds_ = 0;
  std::unique_ptr<Mark> start_;
  std::unique_ptr<GpuTimer> timer_;
  std::unique_ptr<Mark> end_;
  bool is_capturable_ = true, is_warm_ = false;
  // from array 0, and from array 1; destroyed before the communicators that they use
  Graph graphs_[2];
};

GpuRanks::GpuRanks(const std::vector<DeviceRank*>& ranks, int all, HaloWay way,
                   const std::vector<std::string>& told, const NcclLibrary* nccl,
                   double silence_seconds)
    : way_(way),
      nccl_(nccl),
      silence_seconds_(silence_seconds),
      moved_(ranks.size()),
      phases_(ranks.size()) {
  for (DeviceRank* const rank : ranks) {
    ranks_.push_back(&dynamic_cast<GpuRank&>(*rank));
    is_capturable_ = is_capturable_ && ranks_.back()->is_capturable();
  }
  const DeviceScope scope(first().device());
  start_ = std::make_unique<Mark>();
  end_ = std::make_unique<Mark>();
  timer_ = std::make_unique<GpuTimer>();
  if (way == HaloWay::peer) {
    told.empty() ? open_memories() : open_processes(told);
    return;
  }
  NcclId id = {};
  if (told.size() != 1 || told.front().size() != sizeof id) {
    throw UsageError("ranks over NCCL need an id of one of them");
  }
  std::memcpy(&id, told.front().data(), sizeof id);
  for (GpuRank* const rank : ranks_) {
    rank->make_room_to_pack();
    lines_.push_back(std::make_unique<NcclRank>(*nccl_, rank->number()));
  }
  nccl_group(*nccl_, first().number(), [&] {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const DeviceScope here(ranks_[i]->device());
      lines_[i]->join(all, id);
    }
  });
}

GpuRanks::~GpuRanks() {
  try {
    const DeviceScope scope(first().device());
    for (Graph& graph : graphs_) graph.reset();
    start_meeting_.reset();
    sums_meeting_.reset();
    far_.clear();
  } catch (const Error&) {  // the device is gone, and what it held with it
  }
}

/// Each rank gets access to the GPUs that it has runs of, and to no other.
void GpuRanks::open_memories() {
  for (const GpuRank* const rank : ranks_) {
    std::vector<RowRun> runs = rank->share().read_runs;
    runs.insert(runs.end(), rank->share().sum_runs.begin(), rank->share().sum_runs.end());
    for (const RowRun& run : runs) {
      let_read(rank->device(), ranks_[place_of(run.rank)]->device());
    }
  }
}

/// A process opens the memory of all ranks and meets all of them.
void GpuRanks::open_processes(const std::vector<std::string>& memories) {
  const int me = first().number();
  if (ranks_.size() != 1) throw UsageError("a process brings one rank, or all of them");
  std::vector<unsigned*> start_flags, sums_flags;
  bool has_sums = false;
  for (std::size_t rank = 0; rank < memories.size(); ++rank) {
    const bool is_me = static_cast<int>(rank) == me;
    far_.push_back(is_me ? nullptr
                         : std::make_unique<FarRank>(memories[rank], static_cast<int>(rank)));
    const GivenMemory& given = is_me ? first().given() : far_.back()->given();
    start_flags.push_back(given.flags[0]);
    sums_flags.push_back(given.flags[1]);
    has_sums = has_sums || !given.piece_runs.empty();
  }
  start_meeting_ =
      std::make_unique<Meeting>(me, first().given().flags[0], start_flags, silence_seconds_);
  if (has_sums) {
    sums_meeting_ =
        std::make_unique<Meeting>(me, first().given().flags[1], sums_flags, silence_seconds_);
  }
}

std::size_t GpuRanks::place_of(int rank) const {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i]->number() == rank) return i;
  }
  throw UsageError("rank " + std::to_string(rank) +
                   " is in another process, whose memory cannot "
                   "be read from here");
}

void GpuRanks::bind(int from) {
  for (GpuRank* const rank : ranks_) rank->bind(from);
}

/// The ranks' streams fork from the first one's and join it, so that one capture holds all.
void GpuRanks::queue() {
  {
    const DeviceScope scope(first().device());
    // After it all have their B, and nobody still reads what this product writes.
    if (spans_processes()) start_meeting_->queue(first().work());
    start_->record(first().work());
  }
  for (GpuRank* const rank : ranks_) rank->begin(*start_);
  for (Moved& moved : moved_) moved = {};
  for (GpuRank* const rank : ranks_) rank->multiply_pieces();
  if (way_ == HaloWay::nccl) {
    queue_messages();
  } else {
    spans_processes() ? queue_far_reads() : queue_reads();
  }
  for (GpuRank* const rank : ranks_) rank->multiply_own();
  for (GpuRank* const rank : ranks_) rank->multiply_halo();
  const DeviceScope scope(first().device());
  for (const GpuRank* const rank : ranks_) {
    CHECK_CUDA(cudaStreamWaitEvent(first().work(), rank->done().get()));
  }
}

/// A rank's runs, beginning with the neighbour after itself, so that not all read from the same
/// rank at once.
std::vector<RowRun> neighbours_first(const GpuRank& rank) {
  std::vector<RowRun> runs = rank.share().read_runs;
  const auto after = std::find_if(runs.begin(), runs.end(),
                                  [&](const RowRun& run) { return run.rank >= rank.number(); });
  std::rotate(runs.begin(), after, runs.end());
  return runs;
}

void GpuRanks::queue_reads() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    for (const RowRun& run : neighbours_first(*ranks_[i])) {
      const std::size_t owner = place_of(run.rank);
      const std::uint64_t bytes = ranks_[i]->read_from(ranks_[owner]->given(), run);
      if (owner == i) continue;
      moved_[i].received += bytes;
      moved_[owner].sent += bytes;
    }
    for (const RowRun& run : ranks_[i]->share().sum_runs) {
      const std::size_t maker = place_of(run.rank);
      ranks_[maker]->let_travel_await_sums(ranks_[i]->travel());
      const std::uint64_t bytes = ranks_[i]->read_sums_from(ranks_[maker]->given(), run);
      moved_[i].received += bytes;
      moved_[maker].sent += bytes;
    }
  }
}

/// queue_reads for one rank, where the others are processes. What they read here is known from the
/// lists.
void GpuRanks::queue_far_reads() {
  GpuRank& rank = first();
  Moved& moved = moved_.front();
  for (const RowRun& run : neighbours_first(rank)) {
    const bool is_own = run.rank == rank.number();
    const auto owner = static_cast<std::size_t>(run.rank);
    const std::uint64_t bytes = rank.read_from(is_own ? rank.given() : far_[owner]->given(), run);
    if (!is_own) moved.received += bytes;
  }
  for (const RowRun& run : rank.share().send_runs) {
    if (run.rank != rank.number()) {
      moved.sent += static_cast<std::uint64_t>(run.count) * rank.row_bytes();
    }
  }
  for (const RowRun& run : rank.share().piece_runs) {
    moved.sent += static_cast<std::uint64_t>(run.count) * rank.sum_bytes();
  }
  if (sums_meeting_ == nullptr) return;
  const DeviceScope scope(rank.device());
  rank.let_travel_await_sums(rank.travel());
  sums_meeting_->queue(rank.travel());
  for (const RowRun& run : rank.share().sum_runs) {
    moved.received += rank.read_sums_from(far_[static_cast<std::size_t>(run.rank)]->given(), run);
  }
}

void GpuRanks::queue_messages() {
  for (GpuRank* const rank : ranks_) rank->pack();
  nccl_group(*nccl_, first().number(), [&] {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const GpuRank& rank = *ranks_[i];
      NcclRank& line = *lines_[i];
      const DeviceScope scope(rank.device());
      line.forget_bytes();
      const auto bytes = [](const RowRun& run, std::uint64_t row_bytes) {
        return static_cast<std::uint64_t>(run.count) * row_bytes;
      };
      // NCCL matches messages by their order: rows of B come before sums at sender and receiver.
      for (const RowRun& run : rank.share().send_runs) {
        line.send(rank.packed(run), bytes(run, rank.row_bytes()), run.rank, rank.travel());
      }
      for (const RowRun& run : rank.share().piece_runs) {
        line.send(rank.sums_made(run), bytes(run, rank.sum_bytes()), run.rank, rank.travel());
      }
      for (const RowRun& run : rank.share().read_runs) {
        line.receive(rank.halo(run), bytes(run, rank.row_bytes()), run.rank, rank.travel());
      }
      for (const RowRun& run : rank.share().sum_runs) {
        line.receive(rank.sums_received(run), bytes(run, rank.sum_bytes()), run.rank,
                     rank.travel());
      }
      moved_[i] = {line.bytes_sent(), line.bytes_received()};
    }
  });
}

/// The first product loads code and opens connections, which a capture forbids; the phases are
/// measured in the second.
void GpuRanks::warm_up() {
  bind(0);
  for (int product = 0; product < 2; ++product) {
    queue();
    wait(1);
  }
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const DeviceScope scope(ranks_[i]->device());
    phases_[i] = ranks_[i]->phases();
  }
  is_warm_ = true;
}

void GpuRanks::prepare(int from) {
  if (!is_capturable_ || graphs_[from].is_there()) return;
  bind(from);
  graphs_[from].capture(
      first().work(), [&] { queue(); }, kKeepsPriorities);
}

void GpuRanks::multiply(int products) {
  if (!is_warm_) warm_up();
  const DeviceScope scope(first().device());
  prepare(0);
  if (products > 1) prepare(1);
  const cudaStream_t stream = first().work();
  give_head_start(stream);
  if (spans_processes()) start_meeting_->queue(stream);  // all ranks begin at the same time
  timer_->start(stream);
  for (int product = 0; product < products; ++product) {
    if (is_capturable_) {
      graphs_[product % 2].launch(stream);
    } else {
      bind(product % 2);
      queue();
    }
  }
  timer_->stop(stream);
  wait(products);
  total_seconds_ = timer_->seconds();
  bind((products - 1) % 2);  // the arrays that a download reads
}

void GpuRanks::require_all_came() const {
  for (const Meeting* const meeting : {start_meeting_.get(), sums_meeting_.get()}) {
    if (meeting == nullptr || meeting->missing() < 0) continue;
    throw DeviceError("rank " + std::to_string(first().number()) + " has waited " +
                      std::to_string(static_cast<int>(silence_seconds_)) + " s for rank " +
                      std::to_string(meeting->missing()) + ", which is gone, or stuck");
  }
}

/// Neither NCCL nor a waiting GPU notices by itself that a rank is gone: hence the time limits.
void GpuRanks::wait(int products) {
  const DeviceScope scope(first().device());
  end_->record(first().work());
  if (way_ == HaloWay::peer) {
    CHECK_CUDA(cudaEventSynchronize(end_->get()));
    return require_all_came();
  }
  const Stopwatch watch;
  try {
    for (;;) {
      const cudaError_t status = cudaEventQuery(end_->get());
      for (const auto& line : lines_) line->require_healthy();
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) CHECK_CUDA(status);
      static_cast<void>(cudaGetLastError());
      if (watch.seconds() > silence_seconds_ * products) {
        throw DeviceError("rank " + std::to_string(first().number()) + " has waited " +
                          std::to_string(static_cast<int>(watch.seconds())) +
                          " s for rows of B from other GPUs: one of their ranks is gone, or stuck");
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  } catch (...) {
    abort();
    throw;
  }
}

/// An aborted communicator waits for the graphs that use it, and they wait for all communicators.
/// So graphs are destroyed first, and all communicators are aborted together.
void GpuRanks::abort() noexcept {
  for (Graph& graph : graphs_) graph.reset();
  static_cast<void>(nccl_->group_start());
  for (const auto& line : lines_) line->abort();
  static_cast<void>(nccl_->group_end());
}

}  // namespace

std::unique_ptr<DeviceRank> make_device_rank(const DeviceShare& share, const std::string& kernel,
                                             const PlanOptions& options) {
  return std::make_unique<GpuRank>(share, kernel, options);
}

std::unique_ptr<DeviceRanks> join_device_ranks(const std::vector<DeviceRank*>& ranks, int all,
                                               HaloWay way, const std::vector<std::string>& told) {
  return join_device_ranks(ranks, all, way, told, way == HaloWay::nccl ? &nccl_library() : nullptr);
}

std::unique_ptr<DeviceRanks> join_device_ranks(const std::vector<DeviceRank*>& ranks, int all,
                                               HaloWay way, const std::vector<std::string>& told,
                                               const NcclLibrary* nccl, double silence_seconds) {
  return std::make_unique<GpuRanks>(ranks, all, way, told, nccl, silence_seconds);
}

std::string new_nccl_id() {
  const NcclLibrary& nccl = nccl_library();
  NcclId id = {};
  require_nccl(nccl, nccl.get_unique_id(&id), "ncclGetUniqueId", 0);
  return std::string(id.bytes, sizeof id.bytes);
}

std::vector<std::string> device_addresses() {
  require_device(0);
  int count = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  std::vector<std::string> addresses;
  for (int device = 0; device < count; ++device) {
    char address[32] = {};
    CHECK_CUDA(cudaDeviceGetPCIBusId(address, sizeof address, device));
    addresses.emplace_back(address);
  }
  return addresses;
}

void let_read(int device, int other) {
  if (device == other) return;
  if (const std::string why = why_no_peers({device, other}); !why.empty()) throw UsageError(why);
  const DeviceScope scope(device);
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  static_cast<void>(cudaGetLastError());
  if (status != cudaErrorPeerAccessAlreadyEnabled) CHECK_CUDA(status);
}

std::string why_no_peers(const std::vector<int>& devices) {
  for (const int device : devices) {
    for (const int other : devices) {
      int can = 1;
      if (other != device) CHECK_CUDA(cudaDeviceCanAccessPeer(&can, device, other));
      if (can == 0) {
        return "GPU " + std::to_string(device) + " cannot read the memory of GPU " +
               std::to_string(other) + "; use --exchange nccl";
      }
    }
  }
  return "";
}

}  // namespace csrkit::gpu
