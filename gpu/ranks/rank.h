// One rank's arrays, plans and streams on its GPU, and the steps of its product. Each step only
// queues work. gpu/ranks/ranks.h puts the steps of all ranks in order.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/device_ranks.h"
#include "gpu/device/streams/work_stream.h"
#include "gpu/ranks/far_memory.h"
#include "gpu/ranks/rows.h"

namespace csrkit::gpu {

/// Device memory of cudaMalloc: cudaDeviceEnablePeerAccess gives other GPUs no access to memory of
/// a pool. Throws MemoryError, DeviceError.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::uint64_t bytes, const char* what);
  ~SharedBytes();
  SharedBytes(SharedBytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  SharedBytes& operator=(SharedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
};

/// An event that is timed.
class Mark {
 public:
  Mark();
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream) const;
  /// Both must have been recorded and reached.
  double seconds_since(const Mark& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// What a rank lets others read: addresses valid in this process.
struct GivenMemory {
  int rank = 0;
  char* arrays[2] = {};
  char* sums_made = nullptr;
  unsigned* flags[2] = {};  // of two meetings, one number for each rank
  std::vector<RowRun> piece_runs;
};

/// A rank of another process, from what its memory() returned.
class FarRank {
 public:
  FarRank(const std::string& memory, int rank);
  const GivenMemory& given() const { return given_; }

 private:
  std::unique_ptr<FarMemory> memory_;
  GivenMemory given_;
};

class GpuRank final : public DeviceRank {
 public:
  GpuRank(const DeviceShare& share, const std::string& kernel, const PlanOptions& options);
  ~GpuRank() override;

  void upload_b(const ConstDenseView& b) override;
  void download(const DenseView& b, const DenseView& c, const DenseView& halo) override;
  std::string choice() const override;
  std::string memory() const override;

  int device() const { return device_; }
  int number() const { return share_.rank; }
  const DeviceShare& share() const { return share_; }
  bool is_capturable() const { return is_capturable_; }
  /// Bytes of a row of B, and of a row of C.
  std::uint64_t row_bytes() const;
  std::uint64_t sum_bytes() const;
  /// The stream of products and of transfers from and to the host, and that of exchanges.
  cudaStream_t work() const { return work_->get(); }
  cudaStream_t travel() const { return travel_->get(); }

  /// The next product reads array `from` (0 or 1) as B and writes the other one as C.
  void bind(int from);
  void make_room_to_pack();

  /// Exchanges and products wait for `start`.
  void begin(const Mark& start);
  /// Multiplies the pieces of split rows, whose sums other ranks need.
  void multiply_pieces();
  /// Packs the rows to send. The exchange waits for them and for the sums of pieces.
  void pack();
  char* packed(const RowRun& run) const;
  char* halo(const RowRun& run) const;
  char* sums_made(const RowRun& run) const;
  char* sums_received(const RowRun& run) const;
  const GivenMemory& given() const { return given_; }
  /// Reads the rows of a run directly from their owner. Returns the bytes.
  std::uint64_t read_from(const GivenMemory& owner, const RowRun& run);
  /// The same for a run of sums. `travel` must already wait until they are made.
  std::uint64_t read_sums_from(const GivenMemory& maker, const RowRun& run);
  /// The exchange stream of another rank waits until this rank's sums are made.
  void let_travel_await_sums(cudaStream_t travel_of_another) const;
  void multiply_own();
  /// Waits for the exchange so far, multiplies the halo, and adds the sums that came.
  void multiply_halo();
  const Mark& done() const { return marks_->done; }
  /// Seconds of the last product, once it is done; without `total`.
  SpmmSeconds phases() const;

 private:
  struct Marks {
    Mark begun, pieces, packed, arrived, own, waited, done;
  };
  DenseView array(int number) const;
  DenseView rows_of_c(void* data, Index rows) const;
  FarReads far_reads() const;
  /// Whether all of C comes from the halo.
  bool halo_is_all() const {
    return own_ == nullptr && beyond_ != nullptr && share_.halo_rows.empty();
  }
  DenseView c() const { return array(1 - from_); }

  DeviceShare share_;
  int device_;
  bool is_capturable_ = false;
  int from_ = 0;
  SharedBytes shared_;  // what others may read; given_ points into it
  GivenMemory given_;
  SharedBytes halo_, packed_, terms_, sums_received_, numbers_;
  Index* sends_ = nullptr;
  Index* reads_ = nullptr;
  Index* halo_rows_ = nullptr;
  Index* sum_rows_ = nullptr;
  std::unique_ptr<WorkStream> work_, travel_;
  std::unique_ptr<Marks> marks_;
  std::unique_ptr<Operator> own_, beyond_, pieces_;  // null where the matrix has no entries
};

}  // namespace csrkit::gpu
