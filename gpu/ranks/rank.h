// One rank's arrays, plans and streams on its GPU, and the steps of its product, each of which only
// queues work. gpu/ranks/ranks.h puts the steps of all ranks in order.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/device_ranks.h"
#include "gpu/ranks/far_memory.h"
#include "gpu/ranks/rows.h"

namespace csrkit::gpu {

/// Device memory that other GPUs can be given access to, which they cannot to a pool's by
/// cudaDeviceEnablePeerAccess.
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

/// A stream that does not wait for the default one, and events; of the current device.
class WorkStream {
 public:
  /// Work of an urgent one goes first where both have some.
  explicit WorkStream(bool is_urgent);
  ~WorkStream();
  WorkStream(const WorkStream&) = delete;
  WorkStream& operator=(const WorkStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Mark {
 public:
  Mark();
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream) const;
  double seconds_since(const Mark& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// Where others read what a rank has: in its process, or in another one.
struct GivenMemory {
  int rank = 0;
  char* arrays[2] = {};
  char* sums_made = nullptr;
  unsigned* flags[2] = {};  // of two meetings, one number for each rank
  std::vector<RowRun> piece_runs;
};

/// Of a rank of another process, from its memory().
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
  /// A row of B, and a row of C.
  std::uint64_t row_bytes() const;
  std::uint64_t sum_bytes() const;
  /// Products, and B's way to and fro.
  cudaStream_t work() const { return work_->get(); }
  cudaStream_t travel() const { return travel_->get(); }

  /// B of what is queued next is array `from`, 0 or 1, and C is the other one.
  void bind(int from);
  void make_room_to_pack();

  /// The travel begins after `start`, as do the products.
  void begin(const Mark& start);
  /// Sums of others' rows.
  void multiply_pieces();
  /// The travel goes on when what goes to others is there.
  void pack();
  char* packed(const RowRun& run) const;
  char* halo(const RowRun& run) const;
  char* sums_made(const RowRun& run) const;
  char* sums_received(const RowRun& run) const;
  const GivenMemory& given() const { return given_; }
  /// Reads the rows of a run where they are. Returns the bytes.
  std::uint64_t read_from(const GivenMemory& owner, const RowRun& run);
  /// The same of a run of sums, which are made when `travel` gets there.
  std::uint64_t read_sums_from(const GivenMemory& maker, const RowRun& run);
  /// What is queued in `travel` of another rank next finds this one's sums made.
  void let_travel_await_sums(cudaStream_t travel_of_another) const;
  void multiply_own();
  /// After what `travel` has so far. The sums that came are added at last.
  void multiply_halo();
  const Mark& done() const { return marks_->done; }
  /// Of what was queued last, when it is done; without `total`.
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
  SharedBytes shared_;  // what others may read: given_ is in there
  GivenMemory given_;
  SharedBytes halo_, packed_, terms_, sums_received_, numbers_;
  Index* sends_ = nullptr;
  Index* reads_ = nullptr;
  Index* halo_rows_ = nullptr;
  Index* sum_rows_ = nullptr;
  std::unique_ptr<WorkStream> work_, travel_;
  std::unique_ptr<Marks> marks_;
  std::unique_ptr<Operator> own_, beyond_, pieces_;  // null where there is no such entry
};

}  // namespace csrkit::gpu
