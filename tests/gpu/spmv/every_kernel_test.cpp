// Table x battery x kinds: a kernel is tested by its line in gpu/spmv/kernels.inc.

#include "gpu/plan/kernels.h"
#include "gpu/spmv/device_spmv.h"
#include "tests/gpu/operator_checks.h"

namespace csrkit::testing {

namespace {

std::vector<std::string> kernel_names(Capabilities wanted = 0) {
  std::vector<std::string> names;
  for (const SpmmKernel& kernel : gpu::spmv_kernels()) {
    if (kernel.can(wanted)) names.push_back(kernel.name);
  }
  return names;
}

std::string name_of_param(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

class EveryGpuSpmvKernel : public GpuKernelTest {
 protected:
  const SpmmKernel& kernel() const { return find_kernel(gpu::spmv_kernels(), GetParam()); }
  std::vector<Kinds> kinds() const { return kinds_within(kernel().capabilities); }

  void check_battery(const KernelCase& item) {
    on_test_threads(made_battery().size(), [&](std::size_t i) {
      const auto& [name, matrix] = made_battery()[i];
      SCOPED_TRACE(name);
      if (name == "subnormal_values" && !kernel().can(kIeeeSpecials)) return;
      check_kernel_on(kernel(), matrix, 1, item);
    });
  }
};

using GpuSpmvOnDevice = EveryGpuSpmvKernel;

}  // namespace

TEST_P(EveryGpuSpmvKernel, EqualsTheReferenceInEveryKind) {
  for (const Kinds& kinds : this->kinds()) {
    KernelCase item;
    item.kinds = kinds;
    check_battery(item);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryGpuSpmvKernel, ScalesAndAddsToY) {
  for (const Kinds& kinds : this->kinds()) {
    KernelCase item;
    item.kinds = kinds;
    for (const auto& [alpha, beta] :
         {std::pair(1.5, -0.25), std::pair(0.0, 1.0), std::pair(-2.0, 0.0)}) {
      item.alpha = alpha;
      item.beta = beta;
      for (const char* name : {"power_law", "one_huge_row", "all_rows_empty", "no_cols"}) {
        check_kernel_on(kernel(), battery_matrix(name), 1, item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EveryGpuSpmvKernel, HonoursLeadingDimensions) {
  if (!kernel().can(kLeadingDimension)) return;
  for (const Kinds& kinds : this->kinds()) {
    KernelCase item;
    item.kinds = kinds;
    item.padding = 3;
    check_kernel_on(kernel(), battery_matrix("power_law"), 1, item);
    check_kernel_on(kernel(), battery_matrix("two_huge_rows_in_sequence"), 1, item);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryGpuSpmvKernel, MultipliesWithTheTranspose) {
  KernelCase item;
  item.transpose_a = true;
  check_battery(item);
  for (const Kinds& kinds : this->kinds()) {
    item.kinds = kinds;
    check_kernel_on(kernel(), battery_matrix("wide"), 1, item);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryGpuSpmvKernel, WorksInEverySemiring) {
  if (!kernel().can(kSemirings)) return;
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    for (const Kinds& kinds : kinds_within(kernel().capabilities & ~(kF16 | kBf16))) {
      KernelCase item;
      item.kinds = kinds;
      item.semiring = semiring;
      check_battery(item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSpmvKernel, CarriesNanAndInfinityOfXThrough) {
  if (!kernel().can(kIeeeSpecials)) return;
  for (const BPattern pattern :
       {BPattern::not_all_finite, BPattern::every_size, BPattern::integers}) {
    KernelCase item;
    item.pattern = pattern;
    check_battery(item);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryGpuSpmvKernel, ComputesOnSlicesInDeviceMemoryInTheCallersStream) {
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const Kinds& kinds : this->kinds()) {
    KernelCase item;
    item.kinds = kinds;
    for (const auto& [shift, padding] : {std::pair(0, 0), std::pair(1, 0), std::pair(2, 5)}) {
      SCOPED_TRACE(describe(item, 1) + " shift=" + std::to_string(shift));
      check_kernel_on_slices(kernel(), problem_of(battery_matrix("power_law"), item, 1), shift,
                             padding, stream);
    }
  }
  CHECK_CUDA(cudaStreamDestroy(stream));
}

TEST_P(EveryGpuSpmvKernel, SaysWhatItStoresAndKeepsWithinItsForecast) {
  for (const char* name :
       {"power_law", "tridiagonal", "one_huge_row", "row_lengths_around_vector_widths"}) {
    for (const bool transpose_a : {false, true}) {
      SCOPED_TRACE(std::string(name) + (transpose_a ? " transposed" : ""));
      KernelCase item;
      item.transpose_a = transpose_a;
      const SpmmProblem problem = problem_of(battery_matrix(name), item, 1);
      const auto plan = kernel().make_plan(problem, options_for(kernel()));
      EXPECT_GT(plan->stored_bytes(), static_cast<std::uint64_t>(problem.a.nnz()));
      if (kernel().role == Role::vendor) continue;
      DenseMatrix x(problem.input_rows(), 1, problem.b), y(problem.output_rows(), 1, problem.c);
      fill_random(x.view(), 1);
      plan->bind(x.view(), y.view());
      EXPECT_NE(plan->choice().find("bytes a nonzero"), std::string::npos) << plan->choice();
      EXPECT_LE(plan->phases().peak_bytes, gpu::forecast_spmv_bytes(GetParam(), problem));
    }
  }
}

TEST_P(EveryGpuSpmvKernel, TakesAsManyColumnsAsItSays) {
  if (!kernel().can(kManyColumns)) return;
  for (const Kinds& kinds : this->kinds()) {
    KernelCase item;
    item.kinds = kinds;
    item.alpha = 2;
    item.beta = 0.5;
    for (const Index columns : {2, 3, 4, 8, 33, 70}) {
      for (const int padding : {0, 1}) {  // of rows: whether they are aligned for wide loads
        item.padding = padding;
        for (const char* name : {"power_law", "tridiagonal", "two_huge_rows_in_sequence"}) {
          check_kernel_on(kernel(), battery_matrix(name), columns, item);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(EveryGpuSpmvKernel, RefusesWhatCannotBe) {
  SpmmProblem problem = problem_of(battery_matrix("tridiagonal"), {}, 1);
  PlanOptions options = options_for(kernel());
  const auto plan = kernel().make_plan(problem, options);
  DenseMatrix x(130, 1, ValueKind::f32), y(130, 1, ValueKind::f32), two(130, 2, ValueKind::f32);
  EXPECT_THROW(plan->multiply(1, 0), UsageError);
  EXPECT_THROW(plan->bind(two.view(), y.view()), UsageError);
  options.memory_limit_bytes = 1000;
  EXPECT_THROW(kernel().make_plan(problem, options), MemoryError);
  options.memory_limit_bytes = 0;
  problem.dense_cols = 2;
  if (!kernel().can(kManyColumns)) {
    EXPECT_THROW(kernel().make_plan(problem, options), UsageError);
  }
  problem.dense_cols = 1;
  problem.semiring = Semiring::min_plus;
  if (!kernel().can(kSemirings)) {
    EXPECT_THROW(kernel().make_plan(problem, options), UsageError);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryGpuSpmvKernel, ::testing::ValuesIn(kernel_names()),
                         name_of_param);

TEST_P(GpuSpmvOnDevice, TakesAMatrixInDeviceMemory) {
  for (const Kinds& kinds : this->kinds()) {
    for (const bool transpose_a : {false, true}) {
      KernelCase item;
      item.kinds = kinds;
      item.transpose_a = transpose_a;
      for (const char* name : {"power_law", "one_huge_row", "all_rows_empty", "no_rows"}) {
        SCOPED_TRACE(std::string(name) + " " + describe(item, 1));
        const SpmmProblem on_host = problem_of(battery_matrix(name), item, 1);
        SpmmProblem problem = on_host;
        problem.a = on_device(on_host.a);
        DenseMatrix x(problem.input_rows(), 1, problem.b), y(problem.output_rows(), 1, problem.c);
        fill_random(x.view(), 5);
        fill_nan(y.view());
        const auto plan = kernel().make_plan(problem, {});
        plan->bind(x.view(), y.view());
        plan->multiply(1, 0);
        plan->fetch_output();
        const CheckResult result = check_spmm(on_host, x.view(), 1, 0, nullptr, y.view());
        ASSERT_TRUE(result.passed) << result.failure;
      }
    }
  }
}

TEST_P(GpuSpmvOnDevice, ReplaysInAGraphWithWhatXHoldsThen) {
  for (const Kinds& kinds : this->kinds()) {
    KernelCase item;
    item.kinds = kinds;
    for (const char* name : {"power_law", "one_huge_row", "no_cols"}) {
      SCOPED_TRACE(name);
      check_kernel_in_graph(kernel(), battery_matrix(name), item, 1);
      if (HasFatalFailure()) return;
    }
  }
  KernelCase item;
  item.semiring = Semiring::min_plus;
  item.transpose_a = true;
  check_kernel_in_graph(kernel(), battery_matrix("power_law"), item, 1);
}

/// Small and mean, for compute-sanitizer. Our kernels only: a vendor's are not for us to mend.
class SanitizerGpuSpmv : public EveryGpuSpmvKernel {};

TEST_P(SanitizerGpuSpmv, SmallAdversarialMatrices) {
  for (const char* name :
       {"no_rows", "no_cols", "all_rows_empty", "every_other_row_empty", "dense_block",
        "tridiagonal", "wide", "two_huge_rows_in_sequence", "row_lengths_around_vector_widths"}) {
    SCOPED_TRACE(name);
    KernelCase item;
    item.kinds = {ValueKind::f64, ValueKind::f64, ValueKind::f64, ValueKind::f64};
    item.alpha = 1.5;
    item.beta = -0.5;
    check_kernel_on(kernel(), battery_matrix(name), 1, item);
    item.kinds = kinds().front();
    item.beta = 0;
    item.transpose_a = true;
    check_kernel_on(kernel(), battery_matrix(name), 1, item);
    if (!kernel().can(kManyColumns)) continue;
    item.transpose_a = false;
    for (const Index columns : {2, 3, 4}) {
      check_kernel_on(kernel(), battery_matrix(name), columns, item);
    }
  }
  check_kernel_on_slices(kernel(), problem_of(battery_matrix("wide"), {}, 1), 1, 2, nullptr);
}

std::vector<std::string> own_kernel_names() {
  std::vector<std::string> names = kernel_names();
  names.erase(std::remove(names.begin(), names.end(), "vendor_cusparse"), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(, SanitizerGpuSpmv, ::testing::ValuesIn(own_kernel_names()),
                         name_of_param);

INSTANTIATE_TEST_SUITE_P(, GpuSpmvOnDevice,
                         ::testing::ValuesIn(kernel_names(kDeviceMatrix | kGraphCapture)),
                         name_of_param);

TEST(GpuSpmvTable, NamesAreUniqueAndProductionDoesEverything) {
  std::vector<std::string> names = kernel_names();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const SpmmKernel& kernel : gpu::spmv_kernels()) {
    EXPECT_EQ(kernel.can(gpu::kSpmvProduction), kernel.role == Role::production) << kernel.name;
    // The others read vectors; SpMM may run these for a few columns.
    const std::string name = kernel.name;
    EXPECT_EQ(kernel.can(kManyColumns), name == "stencil" || name == "jagged") << name;
  }
}

TEST(GpuSpmvTable, WithoutAGpuEveryKernelSaysSo) {
  if (missing_gpu().empty()) GTEST_SKIP() << "there is a GPU";
  for (const SpmmKernel& kernel : gpu::spmv_kernels()) {
    EXPECT_THROW(
        kernel.make_plan(problem_of(battery_matrix("one_entry"), {}, 1), options_for(kernel)),
        NoDeviceError)
        << kernel.name;
  }
}

TEST(GpuSpmvTable, EveryKernelButVendorsHasAForecast) {
  const SpmmProblem problem = problem_of(battery_matrix("power_law"), {}, 1);
  const auto at_least = static_cast<std::uint64_t>(problem.a.nnz()) * 8;
  for (const SpmmKernel& kernel : gpu::spmv_kernels()) {
    if (kernel.role == Role::vendor) {
      EXPECT_THROW(gpu::forecast_spmv_bytes(kernel.name, problem), UsageError);
    } else {
      EXPECT_GT(gpu::forecast_spmv_bytes(kernel.name, problem), at_least) << kernel.name;
    }
  }
}

}  // namespace csrkit::testing
