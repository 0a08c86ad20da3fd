// A pipeline: copies to the device, products and copies from it at the same time. Host threads pack
// pieces of the operands into page-locked buffers, two for each thread, and unpack results; the
// caller's thread queues the steps of the product. A writer of a buffer waits for its last reader:
// on the device by events, on the host until that event has been recorded.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/types.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/streams/stream.h"

namespace csrkit::gpu {

/// An event without timing; threads that wait for it sleep.
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

/// A region of rows on the host that are contiguous on the device.
struct Region {
  std::byte* host = nullptr;  // only read, if it is copied in
  std::size_t pitch_bytes = 0;
  std::size_t row_bytes = 0;
  Offset rows = 0;
  std::byte* device = nullptr;
  /// 64-bit numbers on the host, minus `base`, become 32-bit numbers on the device. Only copied in.
  bool narrows = false;
  Offset base = 0;
  /// The host's rows are contiguous in page-locked memory: copies need no buffer.
  bool is_locked = false;
};

/// A batch of regions that fills one buffer on the device.
struct InBatch {
  std::vector<Region> regions;
  Index after_issued = -1;        // the step that reads the buffer's last content; -1: none
  Index after_drained = -1;       // the step whose result is in the buffer; -1: none
  cudaEvent_t is_free = nullptr;  // recorded by that step, or after its result's copies
  cudaEvent_t loaded = nullptr;   // recorded after this batch
};

/// A step's result, to be copied out.
struct OutBatch {
  Region region;
  cudaEvent_t computed = nullptr;  // recorded by the step
  cudaEvent_t drained = nullptr;   // recorded after this batch
};

/// A piece of a region: whole rows, or a part of one row.
struct Piece {
  Index batch = 0;
  Index region = 0;
  Offset first_row = 0, rows = 0;
  std::size_t first_byte = 0, bytes = 0;  // of a row

  std::size_t size() const { return bytes * static_cast<std::size_t>(rows); }
};

struct Step {
  std::vector<Index> needs;  // batches that must be loaded
  Index after_drained = -1;  // the step whose result is in the buffer
  /// Queues the product and records its events. The `loaded` events of all batches of `needs` have
  /// been recorded before.
  std::function<void()> issue;
};

struct Schedule {
  std::vector<InBatch> in;
  std::vector<Piece> in_order;  // all pieces of all batches; none depends on a later one
  std::vector<Step> steps;
  std::vector<OutBatch> out;  // one for each step, or none
};

/// Cuts regions into pieces of at most `most_bytes` on the device, in order; page-locked regions
/// get larger pieces.
std::vector<Piece> pieces_of(Index batch, Index region, const Region& whole,
                             std::size_t most_bytes);

/// What is copied in before a step.
struct StepLoads {
  std::vector<Index> own;  // the step's own batches
  Index ahead = -1;        // a batch for later, of which share `turn` of `turns` comes here
  Index turn = 0, turns = 1;
};
/// The order of copies in: `first`, then for each step its own batches and its share of a batch for
/// later. So the copy engine is never idle, and a step waits only for its own batches.
std::vector<Piece> in_order(const std::vector<InBatch>& batches, const std::vector<Index>& first,
                            const std::vector<StepLoads>& loads, std::size_t most_bytes);

class Pipeline {
 public:
  /// With `threads` host threads (as in team_size; at least 2), on the current device.
  explicit Pipeline(int threads);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Runs a schedule. Rethrows the first error once no copy is in flight.
  void run(const Schedule& schedule);

  /// Measures bytes per second of simultaneous copies, in and out each: 256 MiB between the
  /// page-locked buffers and two places of `bytes` bytes on the device.
  double copy_bytes_per_second(std::byte* to, std::byte* from, std::size_t bytes);

  /// The most bytes of a piece: with 1 MiB copies took 1.6 times as long, with 2 MiB 1.1 times
  /// (H200).
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
  std::uint64_t staging_bytes() const;
  /// The same for a pipeline of `threads` threads (as in team_size), before it exists.
  static std::uint64_t staging_bytes_of(int threads);

 private:
  struct Slot {
    std::byte* data = nullptr;
    Event copied;
    bool is_pending = false;
    /// Waits for the last copy.
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
