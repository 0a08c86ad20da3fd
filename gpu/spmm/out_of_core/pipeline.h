// Copies to the device and from it under way at once, while it multiplies. Threads of the host pack
// pieces of the operands into page-locked buffers, two for each thread, and unpack results; the
// caller's thread queues the steps of the product. Who writes to a buffer waits for who reads it:
// on the device by events, on the host until the event that is to be waited for was queued.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/types.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/stream.h"

namespace csrkit::gpu {

/// An event without a clock; threads that wait for it sleep.
class Event {
 public:
  Event() {
    CHECK_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventBlockingSync));
  }
  ~Event() { CHECK_CUDA_NOEXCEPT(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Rows on the host that lie side by side on the device.
struct Region {
  std::byte* host = nullptr;  // read only, where the way is in
  std::size_t pitch_bytes = 0;
  std::size_t row_bytes = 0;
  Offset rows = 0;
  std::byte* device = nullptr;
  /// 64-bit numbers on the host that are 32-bit ones on the device, less `base`. Way in only.
  bool narrows = false;
  Offset base = 0;
  /// The host's rows lie side by side in page-locked memory: copies need no buffer there.
  bool is_locked = false;
};

/// What one buffer on the device gets.
struct InBatch {
  std::vector<Region> regions;
  Index after_issued = -1;        // the step that reads what the buffer had before; -1: none
  Index after_drained = -1;       // the step whose result the buffer had
  cudaEvent_t is_free = nullptr;  // recorded by that step, or behind its result's copies
  cudaEvent_t loaded = nullptr;   // is recorded here
};

/// A step's result.
struct OutBatch {
  Region region;
  cudaEvent_t computed = nullptr;  // recorded by the step
  cudaEvent_t drained = nullptr;   // is recorded here
};

/// Part of a region: whole rows, or bytes of one.
struct Piece {
  Index batch = 0;
  Index region = 0;
  Offset first_row = 0, rows = 0;
  std::size_t first_byte = 0, bytes = 0;  // of a row

  std::size_t size() const { return bytes * static_cast<std::size_t>(rows); }
};

struct Step {
  std::vector<Index> needs;  // batches that come in
  Index after_drained = -1;  // the step whose result lies in the buffer
  /// Queues the product and records events; everything of `needs` is loaded by events that were
  /// recorded.
  std::function<void()> issue;
};

struct Schedule {
  std::vector<InBatch> in;
  std::vector<Piece> in_order;  // every piece of every batch; none depends on a later one
  std::vector<Step> steps;
  std::vector<OutBatch> out;  // of each step, or none at all
};

/// Pieces of at most `most_bytes` on the device, in order; larger ones of what is page-locked.
std::vector<Piece> pieces_of(Index batch, Index region, const Region& whole,
                             std::size_t most_bytes);

/// The order of copies in: what step s needs alone comes before what only later steps need, and of
/// `ahead[s]`, a batch for later, as much as there are steps until then: so the way in is never
/// idle, and a step waits for nothing that is not its own. `first` comes before all.
struct StepLoads {
  std::vector<Index> own;  // batches
  Index ahead = -1;        // a batch, of which this is turn `turn` of `turns`
  Index turn = 0, turns = 1;
};
std::vector<Piece> in_order(const std::vector<InBatch>& batches, const std::vector<Index>& first,
                            const std::vector<StepLoads>& loads, std::size_t most_bytes);

class Pipeline {
 public:
  /// `threads` on the host, as in team_size; 2 at least. The current device's.
  explicit Pipeline(int threads);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Works through it. Throws what went wrong, when nothing is under way any more.
  void run(const Schedule& schedule);

  /// Bytes a second of copies in and out at once, each: of 256 MiB, between the page-locked buffers
  /// and two places on the device that have `bytes` bytes.
  double copy_bytes_per_second(std::byte* to, std::byte* from, std::size_t bytes);

  /// What a piece may have at most: 1 MiB was 1.6 times and 2 MiB 1.1 times as slow, on an H200.
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
  std::uint64_t staging_bytes() const;
  /// The same of a pipeline of so many threads (0: as team_size says), before it is made.
  static std::uint64_t staging_bytes_of(int threads);
  cudaStream_t in_stream() const { return in_.get(); }

 private:
  struct Slot {
    std::byte* data = nullptr;
    Event copied;
    bool is_pending = false;
    /// Returns when the last copy is done.
    void wait();
  };
  struct Worker {
    Slot slots[2];
  };
  class Run;

  Stream in_, out_;
  std::vector<Worker> workers_;
  std::byte* staging_ = nullptr;
};

}  // namespace csrkit::gpu
