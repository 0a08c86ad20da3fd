// What every kernel with dense operands on a GPU must satisfy, whatever the operation: slices of
// bigger arrays, matrices that are on the device, CUDA graphs.
#pragma once

#include <memory>

#include "gpu/device/streams/stream.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

inline PlanOptions options_for(const SpmmKernel& kernel) {
  PlanOptions options;
  options.deterministic = kernel.can(kDeterministic);
  return options;
}

/// Operands in the middle of bigger arrays on the device, in a stream of the caller's.
inline void check_kernel_on_slices(const SpmmKernel& kernel, const SpmmProblem& problem,
                                   Offset shift, Offset padding, cudaStream_t stream) {
  PlanOptions options = options_for(kernel);
  options.where.stream = stream;
  DeviceSlice b(problem.input_rows(), problem.dense_cols, problem.b, shift, padding);
  DeviceSlice c(problem.output_rows(), problem.dense_cols, problem.c, shift, padding);
  fill_random(b.host(), 21);
  b.upload(stream, 0xff);
  c.upload(stream, 0xff);
  const auto plan = kernel.make_plan(problem, options);
  const bool has_padding = b.device().leading_dim > b.device().cols;
  if ((!kernel.can(kAnyAlignment) &&
       !(is_vector_aligned(b.device()) && is_vector_aligned(c.device()))) ||
      (!kernel.can(kLeadingDimension) && has_padding)) {
    ASSERT_THROW(plan->bind(b.device(), c.device()), UsageError);
    return;
  }
  plan->bind(b.device(), c.device());
  ASSERT_TRUE(c.is_untouched(stream)) << "C was written before multiply";
  plan->multiply(1, 0);
  plan->fetch_output();
  ASSERT_TRUE(b.is_untouched(stream)) << "B was changed";
  ASSERT_TRUE(c.download_and_check_surroundings(stream)) << "written outside of C";
  const CheckResult result = check_spmm(problem, b.host(), 1, 0, nullptr, c.host());
  ASSERT_TRUE(result.passed) << result.failure;
}

/// A copy of a host array on the device, freed with its last owner.
inline std::shared_ptr<void> on_device(const void* data, std::uint64_t bytes) {
  void* copy = nullptr;
  CHECK_CUDA(cudaMalloc(&copy, std::max<std::uint64_t>(bytes, 1)));
  std::shared_ptr<void> owner(copy, [](void* p) { CHECK_CUDA_NOEXCEPT(cudaFree(p)); });
  if (bytes > 0) CHECK_CUDA(cudaMemcpy(copy, data, bytes, cudaMemcpyHostToDevice));
  return owner;
}

inline CsrMatrix on_device(const CsrMatrix& matrix) {
  struct Arrays {
    std::shared_ptr<void> row_offsets, col_indices, values;
  };
  const auto nnz = static_cast<std::uint64_t>(matrix.nnz());
  const auto arrays = std::make_shared<Arrays>();
  arrays->row_offsets = on_device(matrix.row_offsets(),
                                  (static_cast<std::uint64_t>(matrix.rows()) + 1) * sizeof(Offset));
  arrays->col_indices = on_device(matrix.col_indices(), nnz * sizeof(Index));
  arrays->values =
      on_device(matrix.values(), nnz * static_cast<std::uint64_t>(size_of(matrix.value_kind())));
  return CsrMatrix::on_device(matrix.rows(), matrix.cols(), matrix.nnz(),
                              static_cast<const Offset*>(arrays->row_offsets.get()),
                              static_cast<const Index*>(arrays->col_indices.get()),
                              matrix.value_kind(), arrays->values.get(), arrays);
}

/// Captures two equal multiplications and replays them with three different B.
inline void check_kernel_in_graph(const SpmmKernel& kernel, const CsrMatrix& matrix,
                                  const KernelCase& item, Index dense_cols) {
  SCOPED_TRACE(describe(item, dense_cols));
  const SpmmProblem problem = problem_of(matrix, item, dense_cols);
  const double alpha = problem.semiring == Semiring::plus_times ? 1.5 : 1;
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    PlanOptions options = options_for(kernel);
    options.where.stream = stream;
    DeviceSlice b(problem.input_rows(), dense_cols, problem.b, 0, 0);
    DeviceSlice c(problem.output_rows(), dense_cols, problem.c, 0, 0);
    const auto plan = kernel.make_plan(problem, options);
    fill_random(b.host(), 1);
    b.upload(stream);
    c.upload(stream);
    plan->bind(b.device(), c.device());
    plan->wait();
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    plan->multiply(alpha, 0);
    plan->multiply(alpha, 0);
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t replay = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
    ASSERT_TRUE(c.is_untouched(stream)) << "C was written by the capture";
    for (int seed = 1; seed <= 3; ++seed) {
      fill_random(b.host(), static_cast<std::uint64_t>(seed));
      b.upload(stream);
      CHECK_CUDA(cudaGraphLaunch(replay, stream));
      CHECK_CUDA(cudaStreamSynchronize(stream));
      ASSERT_TRUE(c.download_and_check_surroundings(stream)) << "written outside of C";
      const CheckResult result = check_spmm(problem, b.host(), alpha, 0, nullptr, c.host());
      ASSERT_TRUE(result.passed) << "replay " << seed << ": " << result.failure;
    }
    CHECK_CUDA(cudaGraphExecDestroy(replay));
    CHECK_CUDA(cudaGraphDestroy(graph));
  }
  CHECK_CUDA(cudaStreamDestroy(stream));
}

}  // namespace csrkit::testing
