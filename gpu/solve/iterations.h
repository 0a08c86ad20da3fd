// The CG iteration on the device, in the form of each rung of the ladder.
#pragma once

#include <memory>
#include <vector>

#include "core/solve/ritz_values.h"
#include "gpu/device/streams/graph.h"
#include "gpu/solve/one_pass.h"
#include "gpu/solve/persistent.h"
#include "gpu/solve/preconditioners.h"
#include "gpu/solve/vectors.h"
#include "gpu/solve/vendor/loop.h"

namespace csrkit::gpu {

/// The solvers, which differ in how they queue the iteration.
enum class Rung {
  host_scalars,  // every sum is fetched by the host, every scalar sent back
  // scalars stay on the device; the host only queues, and checks every kChunk iterations
  device_scalars,
  graph,         // as device_scalars, queued as one CUDA graph per kChunk iterations
  atomic_sums,   // graph with sums by atomics instead of a second kernel
  fused,         // a graph of three passes over vectors beside the product
  one_pass,      // a graph of the product and one cooperative kernel
  streamed,      // one cooperative kernel, A as CSR streams through shared memory
  persistent,    // one cooperative kernel, its own product, x and r in shared memory
  vendor_cublas  // a graph of calls of cuBLAS and cuSPARSE
};

/// Whether all iterations are one kernel: a PersistentLoop, with a product of its own.
inline bool is_one_kernel(Rung rung) { return rung == Rung::streamed || rung == Rung::persistent; }

template <class T>
class DeviceIterations {
 public:
  /// `x` receives the solutions: rows * columns numbers on the device. A rung that is one kernel
  /// takes a `loop` and no product; the others take no `loop`. `preconditioner` may be null. All
  /// pointers must outlive this object. Throws MemoryError.
  DeviceIterations(const SolveProblem& problem, Rung rung, DeviceMemory& memory, T* x,
                   Operator* product, DevicePreconditioner<T>* preconditioner,
                   PersistentLoop<T>* loop);

  T* residual() { return state_.r; }

  /// As CgMachine::run. Norms in `history` are multiplied by their column's scale. `steps`, if not
  /// null, gets the step lengths of the first column.
  std::vector<ColumnRun> run(const std::vector<double>& targets, const std::vector<double>& scales,
                             Offset limit, const ProgressCallback& progress,
                             std::vector<double>* history, CgSteps* steps = nullptr);

  /// Bytes of the vectors and records on the device.
  static std::uint64_t size_bytes(Index rows, Index columns);

  static constexpr Offset kChunk = 16;  // iterations between two checks by the host

 private:
  void begin(const std::vector<double>& targets);
  void queue_step();    // one iteration, in the rung's form
  void queue_passes();  // all steps after the product, a kernel each
  void queue_fused_passes();
  void make_step_by_host();  // one iteration, scalars computed by the host
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
  Offset recorded_ = 0;            // rows of records_ that are valid
  Graph graph_;                    // of kChunk iterations
};

}  // namespace csrkit::gpu
