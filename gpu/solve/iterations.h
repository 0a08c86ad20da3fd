// The iteration on the device, as each rung of the ladder has it.
#pragma once

#include <memory>
#include <vector>

#include "core/solve/ritz_values.h"
#include "gpu/solve/one_pass.h"
#include "gpu/solve/persistent.h"
#include "gpu/solve/preconditioners.h"
#include "gpu/solve/vectors.h"
#include "gpu/solve/vendor/loop.h"

namespace csrkit::gpu {

/// What tells the solvers apart.
enum class Rung {
  host_scalars,    // every sum goes to the host, every scalar comes back
  device_scalars,  // scalars stay; the host only queues, and looks now and then
  graph,           // as device_scalars, queued as one CUDA graph per kChunk iterations
  atomic_sums,     // as graph, sums by atomics instead of a second kernel
  fused,           // a graph of three passes over vectors beside the product
  one_pass,        // a graph of the product and one cooperative kernel
  streamed,        // one cooperative kernel, A as CSR streams through shared memory
  persistent,      // one cooperative kernel, its own product, x and r in shared memory
  vendor_cublas    // a graph of what the vendor's libraries offer
};

/// Whether all iterations are one kernel, a PersistentLoop with a product of its own.
inline bool is_one_kernel(Rung rung) { return rung == Rung::streamed || rung == Rung::persistent; }

template <class T>
class DeviceIterations {
 public:
  /// `product`, `preconditioner` and `loop` must stay. `x` is where solutions are made, rows *
  /// columns numbers on the device. A rung that is one kernel takes a `loop` and no product; the
  /// others take no `loop`. `preconditioner` may be null.
  DeviceIterations(const SolveProblem& problem, Rung rung, DeviceMemory& memory, T* x,
                   Operator* product, DevicePreconditioner<T>* preconditioner,
                   PersistentLoop<T>* loop);
  ~DeviceIterations();
  DeviceIterations(const DeviceIterations&) = delete;
  DeviceIterations& operator=(const DeviceIterations&) = delete;

  T* residual() { return state_.r; }

  /// As CgMachine::run; norms in `history` are multiplied by `scales`. `steps`, if not null, gets
  /// the step lengths of the first column.
  std::vector<ColumnRun> run(const std::vector<double>& targets, const std::vector<double>& scales,
                             Offset limit, const ProgressCallback& progress,
                             std::vector<double>* history, CgSteps* steps = nullptr);

  /// Bytes of the vectors.
  static std::uint64_t size_bytes(Index rows, Index columns);

  static constexpr Offset kChunk = 16;  // iterations between two looks of the host

 private:
  void begin(const std::vector<double>& targets);
  void queue_step();    // one iteration, as the rung has it
  void queue_passes();  // after the product, apart
  void queue_fused_passes();
  void make_step_by_host();  // one iteration, scalars by way of the host
  void queue_chunk(Offset iterations);
  void download();  // columns_ and records_
  void apply_preconditioner();
  void bind_product();
  void multiply();

  Rung rung_;
  cudaStream_t stream_;
  Operator* product_;
  DevicePreconditioner<T>* preconditioner_;
  PersistentLoop<T>* loop_;
  std::unique_ptr<OnePass<T>> one_pass_;
  std::unique_ptr<VendorPasses<T>> vendor_;
  CgState<T> state_;
  DeviceBuffer<T> vectors_;
  DeviceBuffer<CgColumn> device_columns_;
  DeviceBuffer<CgRecord> device_records_;
  DeviceBuffer<Index> device_iteration_;
  DeviceBuffer<double> partials_, sums_;
  DeviceBuffer<unsigned> done_blocks_;
  std::vector<CgColumn> columns_;
  std::vector<CgRecord> records_;  // of the last chunk
  Offset recorded_ = 0;            // rows in it that count
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace csrkit::gpu
