// What a caller has on the device already: A in device memory, and multiplications in CUDA graphs.

#include "core/contract/takes_values.h"
#include "gpu/plan/kernels.h"
#include "tests/gpu/operator_checks.h"

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
  void check(const CsrMatrix& matrix, const KernelCase& item, Index dense_cols) {
    check_kernel_in_graph(kernel(), matrix, item, dense_cols);
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

// Training changes values in every step: the plan takes those that are on the device already.
TEST_P(GpuSpmmOnDeviceMatrix, TakesNewValues) {
  if (GetParam() == "nnz_atomic") GTEST_SKIP() << "for A^T alone";
  for (const Kinds& kinds : kinds_within(kernel().capabilities)) {
    KernelCase item;
    item.kinds = kinds;
    for (const char* name : {"power_law", "one_huge_row", "dense_block", "all_rows_empty"}) {
      SCOPED_TRACE(name);
      SpmmProblem problem = problem_of(battery_matrix(name), item, 36);
      const CsrMatrix first = problem.a;
      if (first.value_kind() == ValueKind::none) continue;
      DenseMatrix b(problem.input_rows(), 36, problem.b), c(problem.output_rows(), 36, problem.c);
      fill_random(b.view(), 5);
      const auto plan = kernel().make_plan(problem, options());
      for (const int seed : {1, 2}) {
        DenseMatrix values(1, checked_cast<Index, UsageError>(first.nnz(), "nnz"),
                           first.value_kind());
        fill_random(values.view(), static_cast<std::uint64_t>(seed));
        const auto there = on_device(values.view().data,
                                     static_cast<std::uint64_t>(first.nnz()) *
                                         static_cast<std::uint64_t>(size_of(values.view().kind)));
        set_values(*plan, there.get());
        problem.a = CsrMatrix(first.rows(), first.cols(), first.row_offsets(), first.col_indices(),
                              first.value_kind(), values.view().data, nullptr);
        fill_nan(c.view());
        plan->bind(b.view(), c.view());
        plan->multiply(1, 0);
        plan->fetch_output();
        const CheckResult result = check_spmm(problem, b.view(), 1, 0, nullptr, c.view());
        ASSERT_TRUE(result.passed) << result.failure;
      }
      if (first.nnz() > 0) {
        EXPECT_THROW(set_values(*plan, first.values()), UsageError) << "they are on the host";
      }
    }
  }
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
