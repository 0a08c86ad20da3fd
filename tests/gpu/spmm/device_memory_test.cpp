// What a caller has on the device already: A in device memory, and multiplications in CUDA graphs.

#include <memory>

#include "gpu/device/stream.h"
#include "gpu/plan/kernels.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

std::vector<std::string> names_of_kernels_that_can(Capabilities wanted) {
  std::vector<std::string> names;
  for (const SpmmKernel& kernel : gpu::spmm_kernels()) {
    if (kernel.can(wanted)) names.push_back(kernel.name);
  }
  return names;
}

std::string name_of_param(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

/// A copy of a host array on the device, freed with its last owner.
std::shared_ptr<void> on_device(const void* data, std::uint64_t bytes) {
  void* copy = nullptr;
  CHECK_CUDA(cudaMalloc(&copy, std::max<std::uint64_t>(bytes, 1)));
  std::shared_ptr<void> owner(copy, [](void* p) { CHECK_CUDA_NOEXCEPT(cudaFree(p)); });
  if (bytes > 0) CHECK_CUDA(cudaMemcpy(copy, data, bytes, cudaMemcpyHostToDevice));
  return owner;
}

CsrMatrix on_device(const CsrMatrix& matrix) {
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

class GpuSpmmOnDeviceMatrix : public GpuKernelTest {
 protected:
  const SpmmKernel& kernel() const { return find_kernel(gpu::spmm_kernels(), GetParam()); }
  PlanOptions options() const {
    PlanOptions options;
    options.deterministic = kernel().can(kDeterministic);
    return options;
  }
};

class GpuSpmmInGraph : public GpuSpmmOnDeviceMatrix {
 protected:
  /// Captures two equal multiplications and replays them with three different B.
  void check(const CsrMatrix& matrix, const KernelCase& item, Index dense_cols) {
    SCOPED_TRACE(describe(item, dense_cols));
    const SpmmProblem problem = problem_of(matrix, item, dense_cols);
    const double alpha = problem.semiring == Semiring::plus_times ? 1.5 : 1;
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    {
      PlanOptions options = this->options();
      options.where.stream = stream;
      DeviceSlice b(problem.input_rows(), dense_cols, problem.b, 0, 0);
      DeviceSlice c(problem.output_rows(), dense_cols, problem.c, 0, 0);
      const auto plan = kernel().make_plan(problem, options);
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
};

}  // namespace

TEST_P(GpuSpmmOnDeviceMatrix, EqualsTheReference) {
  for (const Kinds& kinds : kinds_within(kernel().capabilities)) {
    for (const bool transpose_a : {false, true}) {
      KernelCase item;
      item.kinds = kinds;
      item.transpose_a = transpose_a;
      for (const char* name : {"power_law", "one_huge_row", "all_rows_empty", "no_rows", "wide"}) {
        SCOPED_TRACE(std::string(name) + " " + describe(item, 36));
        const SpmmProblem on_host = problem_of(battery_matrix(name), item, 36);
        SpmmProblem problem = on_host;
        problem.a = on_device(on_host.a);
        DenseMatrix b(problem.input_rows(), 36, problem.b), c(problem.output_rows(), 36, problem.c);
        fill_random(b.view(), 5);
        fill_nan(c.view());
        const auto plan = kernel().make_plan(problem, options());
        EXPECT_EQ(plan->phases().upload_a_seconds, 0);
        plan->bind(b.view(), c.view());
        plan->multiply(1, 0);
        plan->fetch_output();
        const CheckResult result = check_spmm(on_host, b.view(), 1, 0, nullptr, c.view());
        ASSERT_TRUE(result.passed) << result.failure;
      }
    }
  }
}

TEST_P(GpuSpmmOnDeviceMatrix, IsUsedInPlace) {
  const SpmmProblem on_host = problem_of(random_matrix(3000, 3000, 0.02), {}, 32);
  SpmmProblem problem = on_host;
  problem.a = on_device(on_host.a);
  const std::uint64_t uploaded = kernel().make_plan(on_host, options())->phases().peak_bytes;
  const std::uint64_t in_place = kernel().make_plan(problem, options())->phases().peak_bytes;
  EXPECT_GE(uploaded, in_place + static_cast<std::uint64_t>(on_host.a.nnz()) * 8);
}

TEST_P(GpuSpmmOnDeviceMatrix, RefusesAddressesThatNoDeviceKnows) {
  const CsrMatrix host = battery_matrix("power_law");
  SpmmProblem problem = problem_of(host, {}, 8);
  problem.a = CsrMatrix::on_device(host.rows(), host.cols(), host.nnz(), host.row_offsets(),
                                   host.col_indices(), host.value_kind(), host.values(), nullptr);
  EXPECT_THROW(kernel().make_plan(problem, options()), UsageError);
}

INSTANTIATE_TEST_SUITE_P(, GpuSpmmOnDeviceMatrix,
                         ::testing::ValuesIn(names_of_kernels_that_can(kDeviceMatrix)),
                         name_of_param);

TEST_P(GpuSpmmInGraph, ReplaysWithWhatBHoldsThen) {
  for (const Kinds& kinds : kinds_within(kernel().capabilities)) {
    KernelCase item;
    item.kinds = kinds;
    for (const char* name : {"power_law", "one_huge_row", "dense_block", "no_cols"}) {
      SCOPED_TRACE(name);
      for (const Index dense_cols : {1, 32, 257}) {
        check(battery_matrix(name), item, dense_cols);
        if (HasFatalFailure()) return;
      }
    }
  }
  KernelCase item;
  item.transpose_a = true;
  check(battery_matrix("power_law"), item, 64);
  if (!kernel().can(kSemirings)) return;
  item.semiring = Semiring::min_plus;
  check(battery_matrix("power_law"), item, 64);
}

INSTANTIATE_TEST_SUITE_P(, GpuSpmmInGraph,
                         ::testing::ValuesIn(names_of_kernels_that_can(kGraphCapture)),
                         name_of_param);

TEST(GpuSpmmDeviceMemory, ProductionKernelsCanOthersRefuse) {
  const CsrMatrix host = battery_matrix("power_law");
  SpmmProblem problem = problem_of(host, {}, 8);
  problem.a = CsrMatrix::on_device(host.rows(), host.cols(), host.nnz(), host.row_offsets(),
                                   host.col_indices(), host.value_kind(), host.values(), nullptr);
  for (const SpmmKernel& kernel : gpu::spmm_kernels()) {
    EXPECT_EQ(kernel.can(kDeviceMatrix | kGraphCapture), kernel.role == Role::production)
        << kernel.name;
    if (kernel.can(kDeviceMatrix)) continue;
    PlanOptions options;
    options.deterministic = kernel.can(kDeterministic);
    EXPECT_THROW(kernel.make_plan(problem, options), UsageError) << kernel.name;
  }
}

}  // namespace csrkit::testing
