// Registry x battery x widths x kinds: a kernel is tested by its line in gpu/spmm/kernels.inc.

#include <array>

#include "core/facts/matrix_stats.h"
#include "gpu/device/streams/stream.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/copy_columns.h"
#include "gpu/spmm/device_spmm.h"
#include "tests/gpu/operator_checks.h"

namespace csrkit::testing {

namespace {

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const SpmmKernel& kernel : gpu::spmm_kernels()) names.push_back(kernel.name);
  return names;
}

std::vector<std::string> own_kernel_names() {
  std::vector<std::string> names;
  for (const SpmmKernel& kernel : gpu::spmm_kernels()) {
    if (kernel.role != Role::vendor) names.push_back(kernel.name);
  }
  return names;
}

std::string name_of_param(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

/// All kinds that the kernel declares, those of graph learning too.
std::vector<Kinds> kinds_of(const SpmmKernel& kernel) {
  std::vector<Kinds> all = kinds_within(kernel.capabilities);
  if (!kernel.can(kNarrowOperands)) return all;
  for (const ValueKind b : {ValueKind::f16, ValueKind::bf16}) {
    for (const ValueKind c : {ValueKind::f32, b}) {
      all.push_back({ValueKind::f32, b, c, ValueKind::f32});
    }
  }
  return all;
}

constexpr Kinds kAllF32 = {ValueKind::f32, ValueKind::f32, ValueKind::f32, ValueKind::f32};

class EveryGpuSpmmKernel : public GpuKernelTest {
 protected:
  const SpmmKernel& kernel() const { return find_kernel(gpu::spmm_kernels(), GetParam()); }

  void check(const CsrMatrix& matrix, const std::vector<Index>& widths, const KernelCase& item) {
    on_test_threads(widths.size(),
                    [&](std::size_t i) { check_kernel_on(kernel(), matrix, widths[i], item); });
  }

  void check_battery(const std::vector<Index>& widths, const KernelCase& item) {
    on_test_threads(made_battery().size() * widths.size(), [&](std::size_t i) {
      const auto& [name, matrix] = made_battery()[i / widths.size()];
      SCOPED_TRACE(name);
      if (name == "subnormal_values" && !kernel().can(kIeeeSpecials)) return;
      check_kernel_on(kernel(), matrix, widths[i % widths.size()], item);
    });
  }
};

}  // namespace

TEST_P(EveryGpuSpmmKernel, EqualsTheReferenceOnEveryMatrixAndWidth) {
  check_battery(battery_dense_cols(), {});
}

TEST_P(EveryGpuSpmmKernel, EqualsTheReferenceInEveryKind) {
  for (const Kinds& kinds : kinds_of(kernel())) {
    KernelCase item;
    item.kinds = kinds;
    check_battery({1, 33, 100}, item);
    if (HasFatalFailure()) return;
    for (const char* name : {"power_law", "every_other_row_empty", "just_above_a_block"}) {
      check(battery_matrix(name), {2, 7, 8, 16, 31, 64, 256, 257}, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSpmmKernel, ScalesAndAddsToC) {
  if (!kernel().can(kAlphaBeta)) return;
  for (const Kinds& kinds : kinds_of(kernel())) {
    KernelCase item;
    item.kinds = kinds;
    item.alpha = 1.5;
    item.beta = -0.25;
    check_battery({3, 32}, item);
    if (HasFatalFailure()) return;
  }
  for (const auto& [alpha, beta] :
       {std::pair(0.0, 1.0), std::pair(1.0, 1.0), std::pair(-2.0, 0.0)}) {
    KernelCase item;
    item.alpha = alpha;
    item.beta = beta;
    check(battery_matrix("power_law"), {16, 33, 64, 89, 127}, item);
    check(battery_matrix("all_rows_empty"), {16, 33}, item);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryGpuSpmmKernel, HonoursLeadingDimensions) {
  if (!kernel().can(kLeadingDimension)) return;
  for (const Kinds& kinds : kinds_of(kernel())) {
    for (const Offset padding : {1, 4, 8}) {
      KernelCase item;
      item.kinds = kinds;
      item.padding = padding;
      check(battery_matrix("power_law"), {1, 16, 31, 32, 33, 100}, item);
      check(battery_matrix("one_huge_row"), {32, 100}, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSpmmKernel, MultipliesWithTheTranspose) {
  if (!kernel().can(kTranspose)) return;
  for (const Kinds& kinds : kinds_of(kernel())) {
    KernelCase item;
    item.kinds = kinds;
    item.transpose_a = true;
    check_battery(
        kinds.a == ValueKind::f32 ? std::vector<Index>{1, 17, 32} : std::vector<Index>{32}, item);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryGpuSpmmKernel, WorksInEverySemiring) {
  if (!kernel().can(kSemirings)) return;
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    for (const Kinds& kinds : kinds_within(kernel().capabilities & (kImplicitOnes | kF32 | kF64))) {
      KernelCase item;
      item.kinds = kinds;
      item.semiring = semiring;
      check_battery({1, 32, 33}, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSpmmKernel, CarriesNanAndInfinityOfBThrough) {
  if (!kernel().can(kIeeeSpecials)) return;
  std::vector<Kinds> all_kinds = {kAllF32};
  // In 16 bits, where products may leave f32 and tensor cores multiply what is no entry.
  for (const ValueKind kind : {ValueKind::f16, ValueKind::bf16}) {
    if (kernel().role != Role::production || !kernel().can(capability_of(kind))) continue;
    all_kinds.push_back({kind, kind, ValueKind::f32, ValueKind::f32});
    all_kinds.push_back({ValueKind::none, kind, kind, ValueKind::f32});
  }
  for (const Kinds& kinds : all_kinds) {
    for (const BPattern pattern :
         {BPattern::not_all_finite, BPattern::every_size, BPattern::integers}) {
      KernelCase item;
      item.kinds = kinds;
      item.pattern = pattern;
      check_battery({7, 32, 33, 64, 127}, item);
      if (HasFatalFailure()) return;
    }
  }
}

// Vectors may reach beyond a row of B; what surrounds these operands is NaN.
TEST_P(EveryGpuSpmmKernel, MultipliesAnyNumberOfColumnsWhereverRowsBegin) {
  if (kernel().role != Role::production) return;
  constexpr std::size_t kMostCols = 130;
  const char* const names[] = {"power_law", "one_huge_row", "row_lengths_around_vector_widths"};
  const std::vector<Kinds> all_kinds = kinds_of(kernel());
  on_test_threads(kMostCols * std::size(names), [&](std::size_t i) {
    const auto cols = static_cast<Index>(i / std::size(names)) + 1;
    const char* const name = names[i % std::size(names)];
    KernelCase item;
    item.kinds = cols % 3 == 0 ? all_kinds[i % all_kinds.size()] : all_kinds.front();
    const Offset shift = (cols * 7 + static_cast<Index>(i)) % 6, padding = cols / 3 % 5;
    SCOPED_TRACE(std::string(name) + " " + describe(item, cols) +
                 " shift=" + std::to_string(shift) + " padding=" + std::to_string(padding));
    const SpmmProblem problem = problem_of(battery_matrix(name), item, cols);
    check_kernel_on_slices(kernel(), problem, shift, padding, nullptr);
  });
}

TEST_P(EveryGpuSpmmKernel, MultipliesWideOperandsWhereverRowsBegin) {
  if (kernel().role != Role::production) return;
  for (const Kinds& kinds : kinds_of(kernel())) {
    KernelCase item;
    item.kinds = kinds;
    for (const Index cols : {9, 31, 33, 127, 191, 253, 254, 255, 602, 1433}) {
      SCOPED_TRACE(describe(item, cols));
      // Rows of A that are long, and none.
      for (const CsrMatrix& a : {battery_matrix("power_law"), random_matrix(300, 300, 0.05)}) {
        const SpmmProblem problem = problem_of(a, item, cols);
        check_kernel_on_slices(kernel(), problem, cols % 4, cols % 3, nullptr);
        if (HasFatalFailure()) return;
      }
    }
  }
  if (GetParam() == "row_bins") {
    const CsrMatrix a = random_matrix(1500, 900, 0.99);
    for (const Index cols : {47, 131}) {  // products so large that B is copied
      for (const ValueKind kind : {ValueKind::f16, ValueKind::bf16}) {
        KernelCase item;
        item.kinds = {kind, kind, ValueKind::f32, ValueKind::f32};
        ASSERT_GT(gpu::copied_cols({a.rows(), a.cols(), a.nnz(), cols}, 2), 0);
        check_kernel_on_slices(kernel(), problem_of(convert_values(a, kind), item, cols), 1, 1,
                               nullptr);
      }
    }
  }
  if (GetParam() == "row_bins") {  // so large a B that it is copied in two slices
    constexpr Index kCols = 1'100'000, kDenseCols = 129;
    KernelCase item;
    item.kinds = {ValueKind::f16, ValueKind::f16, ValueKind::f32, ValueKind::f32};
    const CsrMatrix a = convert_values(random_matrix(40, kCols, 0.52), ValueKind::f16);
    ASSERT_EQ(gpu::copied_cols({a.rows(), kCols, a.nnz(), kDenseCols}, 2), 72);
    check_kernel_on_slices(kernel(), problem_of(a, item, kDenseCols), 1, 1, nullptr);
  }
  if (GetParam() != "row_panels") return;
  // Rows that a block sorts, and panels that are copied row by row.
  check_kernel_on_slices(kernel(), problem_of(random_matrix(9, 30'000, 0.7), {}, 101), 1, 1,
                         nullptr);
}

// Rows of B are read in pairs of columns where addresses allow it, else one by one.
TEST_P(EveryGpuSpmmKernel, MakesTheSameBitsWhereverRowsBegin) {
  if (GetParam() != "row_bins" && GetParam() != "row_panels") return;
  for (const char* name :
       {"power_law", "one_huge_row", "row_lengths_around_vector_widths", "dense_block"}) {
    for (const Index cols : {10, 18, 30, 34, 50, 66, 102, 250, 602}) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(cols) + " columns");
      const SpmmProblem problem = problem_of(battery_matrix(name), {}, cols);
      const auto product_with = [&](Offset shift) {
        auto c = std::make_unique<DeviceSlice>(problem.output_rows(), cols, problem.c, shift, 0);
        DeviceSlice b(problem.input_rows(), cols, problem.b, shift, 0);
        fill_random(b.host(), 5);
        b.upload(nullptr, 0xff);
        c->upload(nullptr, 0xff);
        const auto plan = kernel().make_plan(problem, options_for(kernel()));
        plan->bind(b.device(), c->device());
        plan->multiply(1, 0);
        plan->fetch_output();
        EXPECT_TRUE(c->download_and_check_surroundings(nullptr)) << shift;
        return c;
      };
      const auto in_pairs = product_with(2), one_by_one = product_with(1);
      Offset differ = 0;
      for (Index i = 0; i < problem.output_rows(); ++i) {
        for (Index j = 0; j < cols; ++j) {
          const double x = ConstDenseView(in_pairs->host()).at(i, j);
          differ += x == ConstDenseView(one_by_one->host()).at(i, j) ? 0 : 1;
        }
      }
      EXPECT_EQ(differ, 0);
    }
  }
}

TEST_P(EveryGpuSpmmKernel, ComputesOnSlicesInDeviceMemoryInTheCallersStream) {
  const char* const names[] = {"power_law", "one_huge_row", "every_other_row_empty"};
  const std::vector<Kinds> all_kinds = kinds_of(kernel());
  on_test_threads(3 * all_kinds.size(), [&](std::size_t i) {
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    KernelCase item;
    item.kinds = all_kinds[i / 3];
    for (const Index dense_cols : {1, 32, 36}) {
      for (const auto& [shift, padding] :
           {std::pair(0, 0), std::pair(1, 0), std::pair(8, 8), std::pair(2, 6), std::pair(0, 1)}) {
        SCOPED_TRACE(std::string(names[i % 3]) + " " + describe(item, dense_cols) +
                     " shift=" + std::to_string(shift) + " padding=" + std::to_string(padding));
        check_kernel_on_slices(kernel(), problem_of(battery_matrix(names[i % 3]), item, dense_cols),
                               shift, padding, stream);
      }
    }
    CHECK_CUDA(cudaStreamDestroy(stream));
  });
}

TEST_P(EveryGpuSpmmKernel, MultipliesAgainAndAgainAndWithOtherOperands) {
  KernelCase item;
  const SpmmProblem problem = problem_of(battery_matrix("power_law"), item, 48);
  PlanOptions options;
  options.deterministic = kernel().can(kDeterministic);
  const auto plan = kernel().make_plan(problem, options);
  DenseMatrix first(problem.input_rows(), 48, ValueKind::f32);
  DenseMatrix second(problem.input_rows(), 48, ValueKind::f32, 50);
  DenseMatrix c(problem.output_rows(), 48, ValueKind::f32);
  DenseMatrix before(problem.output_rows(), 48, ValueKind::f32);
  fill_random(first.view(), 1);
  fill_random(second.view(), 2);
  const auto judge = [&](ConstDenseView b, double alpha, double beta) {
    const ConstDenseView c0 = before.view();
    const CheckResult result = check_spmm(problem, b, alpha, beta, &c0, c.view());
    EXPECT_TRUE(result.passed) << result.failure;
  };
  const auto remember = [&] {
    for (Index i = 0; i < c.rows(); ++i) {
      for (Index j = 0; j < c.cols(); ++j)
        before.view().set(i, j, ConstDenseView(c.view()).at(i, j));
    }
  };
  fill_nan(c.view());
  plan->bind(first.view(), c.view());
  plan->multiply(1, 0);
  plan->fetch_output();
  judge(first.view(), 1, 0);
  // The host's C is read, once it has been brought back and the host wrote to it.
  fill_random(c.view(), 3);
  remember();
  plan->multiply(2, 1);
  plan->fetch_output();
  judge(first.view(), 2, 1);
  // Without bringing it back: the second product is added to the first.
  plan->bind(second.view(), c.view());
  plan->multiply(1, 0);
  plan->multiply(1, 1);
  plan->fetch_output();
  judge(second.view(), 2, 0);
}

TEST_P(EveryGpuSpmmKernel, TakesASavedAnalysis) {
  for (const char* name : {"power_law", "one_huge_row", "all_rows_empty", "no_rows"}) {
    for (const bool transpose_a : {false, true}) {
      SCOPED_TRACE(std::string(name) + (transpose_a ? " transposed" : ""));
      KernelCase item;
      item.transpose_a = transpose_a;
      const SpmmProblem problem = problem_of(battery_matrix(name), item, 48);
      PlanOptions options;
      options.deterministic = kernel().can(kDeterministic);
      DenseMatrix b(problem.input_rows(), 48, ValueKind::f32);
      DenseMatrix first(problem.output_rows(), 48, ValueKind::f32);
      DenseMatrix second(problem.output_rows(), 48, ValueKind::f32);
      fill_random(b.view(), 1);
      const auto plan = kernel().make_plan(problem, options);
      plan->bind(b.view(), first.view());
      plan->multiply(1, 0);
      plan->fetch_output();
      const SavedAnalysis saved = plan->save_analysis();
      if (saved.empty()) continue;
      const std::string chosen = plan->chosen_kernel();
      const SpmmKernel& same = chosen.empty() ? kernel() : find_kernel(gpu::spmm_kernels(), chosen);
      options.saved = &saved;
      const auto again = same.make_plan(problem, options);
      again->bind(b.view(), second.view());
      fill_nan(second.view());
      again->multiply(1, 0);
      again->fetch_output();
      if (options.deterministic) {
        EXPECT_EQ(std::memcmp(first.view().data, second.view().data, first.size_bytes()), 0);
      }
      const SavedAnalysis cut(saved.begin(), saved.end() - 1);
      options.saved = &cut;
      EXPECT_THROW(same.make_plan(problem, options), UsageError);
    }
  }
}

TEST_P(EveryGpuSpmmKernel, TimesWithWarmAndColdCaches) {
  const SpmmProblem problem = problem_of(battery_matrix("power_law"), {}, 64);
  PlanOptions options;
  options.deterministic = kernel().can(kDeterministic);
  const auto plan = kernel().make_plan(problem, options);
  DenseMatrix b(problem.input_rows(), 64, ValueKind::f32),
      c(problem.output_rows(), 64, ValueKind::f32);
  fill_random(b.view(), 1);
  plan->bind(b.view(), c.view());
  EXPECT_GT(plan->time_multiply(1, 0), 0);
  plan->evict_caches();
  EXPECT_GT(plan->time_multiply(1, 0), 0);
  plan->fetch_output();
  const CheckResult result = check_spmm(problem, b.view(), 1, 0, nullptr, c.view());
  EXPECT_TRUE(result.passed) << result.failure;
  const Phases phases = plan->phases();
  EXPECT_GT(phases.upload_a_seconds, 0);
  EXPECT_GT(phases.upload_b_seconds, 0);
  EXPECT_GT(phases.download_seconds, 0);
  EXPECT_GE(phases.peak_bytes, problem.a.size_bytes() / 2 + b.size_bytes() + c.size_bytes());
}

TEST_P(EveryGpuSpmmKernel, ForecastsTheMemoryItNeeds) {
  const SpmmProblem problem = problem_of(random_matrix(3000, 3000, 0.01), {}, 64);
  PlanOptions options;
  options.deterministic = kernel().can(kDeterministic);
  options.memory_limit_bytes = 100000;
  try {
    kernel().make_plan(problem, options);
    FAIL() << "a plan within 100000 bytes";
  } catch (const MemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("limit is 100000"), std::string::npos) << error.what();
  }
  // Enough for A, not for B and C (1.5 MB). A forecast may exceed the peak by the window that the
  // row offsets come through.
  options.memory_limit_bytes = 0;
  const std::uint64_t enough_for_a = kernel().make_plan(problem, options)->phases().peak_bytes;
  options.memory_limit_bytes = enough_for_a + 100000;
  const auto plan = kernel().make_plan(problem, options);
  DenseMatrix b(3000, 64, ValueKind::f32), c(3000, 64, ValueKind::f32);
  fill_random(b.view(), 1);
  EXPECT_THROW(plan->bind(b.view(), c.view()), MemoryError);
  EXPECT_THROW(plan->multiply(1, 0), UsageError) << "nothing is bound after a failed bind";
}

TEST_P(EveryGpuSpmmKernel, RefusesOperandsThatCannotBe) {
  const SpmmProblem problem = problem_of(battery_matrix("tridiagonal"), {}, 8);
  PlanOptions options;
  options.deterministic = kernel().can(kDeterministic);
  const auto plan = kernel().make_plan(problem, options);
  DenseMatrix b(130, 8, ValueKind::f32), c(130, 8, ValueKind::f32), narrow(130, 7, ValueKind::f32);
  EXPECT_THROW(plan->multiply(1, 0), UsageError);
  EXPECT_THROW(plan->bind(narrow.view(), c.view()), UsageError);
  DenseView false_claim = c.view();
  false_claim.space = MemorySpace::device;
  EXPECT_THROW(plan->bind(b.view(), false_claim), UsageError);
}

TEST_P(EveryGpuSpmmKernel, RefusesWhatItDoesNotDeclare) {
  SpmmProblem problem = problem_of(battery_matrix("tridiagonal"), {}, 8);
  if (!kernel().can(kDeterministic)) {
    EXPECT_THROW(kernel().make_plan(problem, {}), UsageError);
  }
  PlanOptions options;
  options.deterministic = kernel().can(kDeterministic);
  options.where.schedule = Schedule::dynamic;
  EXPECT_THROW(kernel().make_plan(problem, options), UsageError);
  options.where.schedule = Schedule::automatic;
  problem.semiring = Semiring::min_plus;
  if (!kernel().can(kSemirings)) {
    EXPECT_THROW(kernel().make_plan(problem, options), UsageError);
  }
  options.where.device = 12345;
  problem.semiring = Semiring::plus_times;
  EXPECT_THROW(kernel().make_plan(problem, options), NoDeviceError);
}

// A kernel never runs as another one: only auto chooses, and it says what it chose.
TEST_P(EveryGpuSpmmKernel, RunsAsItselfOrRefuses) {
  const CsrMatrix matrix = battery_matrix("power_law");
  const SpmmKernel& row_bins = find_kernel(gpu::spmm_kernels(), "row_bins");
  PlanOptions options;
  options.deterministic = kernel().can(kDeterministic);
  for (const Semiring semiring :
       {Semiring::plus_times, Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    for (const Kinds& kinds : kinds_within(kEverything)) {
      if (semiring != Semiring::plus_times && size_of(kinds.b) < 4) continue;  // not legal
      KernelCase item;
      item.kinds = kinds;
      item.semiring = semiring;
      SCOPED_TRACE(describe(item, 33));
      const SpmmProblem problem = problem_of(matrix, item, 33);
      if (!kernel().can(needed_for(problem) | needed_for(options))) {
        EXPECT_THROW(kernel().make_plan(problem, options), UsageError);
        EXPECT_THROW(gpu::make_device_spmm(GetParam(), problem), UsageError);
        continue;
      }
      const auto plan = kernel().make_plan(problem, options);
      if (GetParam() == "auto") {
        EXPECT_EQ(plan->chosen_kernel(), gpu::auto_spmm_kernel(problem));
        continue;
      }
      EXPECT_EQ(plan->chosen_kernel(), "");
      if (GetParam() == "row_bins" || plan->choice().empty()) continue;
      EXPECT_NE(plan->choice(), row_bins.make_plan(problem, {})->choice());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryGpuSpmmKernel, ::testing::ValuesIn(kernel_names()),
                         name_of_param);

/// Small and mean, for compute-sanitizer, which slows everything down a hundredfold. Our kernels
/// only: what a sanitizer says about a vendor's is not for us to mend. No prefix before the suite's
/// name, so that --gtest_filter='Sanitizer*' finds it.
class SanitizerGpuSpmm : public GpuKernelTest {};

TEST_P(SanitizerGpuSpmm, SmallAdversarialMatrices) {
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), GetParam());
  const char* const names[] = {"no_rows",
                               "no_cols",
                               "all_rows_empty",
                               "last_row_empty",
                               "every_other_row_empty",
                               "dense_block",
                               "wide",
                               "two_huge_rows_in_sequence",
                               "row_lengths_around_vector_widths"};
  constexpr std::array kWidths = {1, 11, 20, 29, 33, 50, 61, 64, 89, 102, 127};
  on_test_threads(kWidths.size() * std::size(names), [&](std::size_t i) {
    const char* const name = names[i / kWidths.size()];
    const Index dense_cols = kWidths[i % kWidths.size()];
    const bool scales = i / kWidths.size() % 2 == 0;  // else by kernels that do not
    SCOPED_TRACE(name);
    const ValueKind other = kernel.can(kF16) ? ValueKind::f16 : ValueKind::f32;
    for (const Kinds& kinds :
         {kAllF32, Kinds{ValueKind::none, other, ValueKind::f32, ValueKind::f32}}) {
      KernelCase item;
      item.kinds = kinds;
      item.padding = dense_cols == 64 ? 8 : 0;
      item.alpha = scales ? 1.5 : 1;
      item.beta = scales && dense_cols == 64 ? -0.5 : 0;
      check_kernel_on(kernel, battery_matrix(name), dense_cols, item);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, SanitizerGpuSpmm, ::testing::ValuesIn(own_kernel_names()),
                         name_of_param);

TEST(GpuSpmmRegistry, NamesAreUniqueAndAutoDoesEverything) {
  std::vector<std::string> names = kernel_names();
  for (const char* name : {"auto", "row_bins", "row_panels"}) {
    EXPECT_TRUE(find_kernel(gpu::spmm_kernels(), name).can(kEverything)) << name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(GpuSpmmRegistry, AutoChoosesAKernelThatCan) {
  for (const double density : {0.02, 0.9}) {
    const CsrMatrix matrix = random_matrix(600, 600, density);
    for (const Kinds& kinds : kinds_of(find_kernel(gpu::spmm_kernels(), "auto"))) {
      KernelCase item;
      item.kinds = kinds;
      const SpmmProblem problem = problem_of(matrix, item, 128);
      const std::string chosen = gpu::auto_spmm_kernel(problem);
      EXPECT_TRUE(find_kernel(gpu::spmm_kernels(), chosen)
                      .can(needed_for(problem) | needed_for(PlanOptions())))
          << chosen;
    }
  }
}

TEST(GpuSpmmRegistry, WithoutAGpuEveryKernelSaysSo) {
  if (missing_gpu().empty()) GTEST_SKIP() << "there is a GPU";
  for (const SpmmKernel& kernel : gpu::spmm_kernels()) {
    PlanOptions options;
    options.deterministic = kernel.can(kDeterministic);
    EXPECT_THROW(kernel.make_plan(problem_of(battery_matrix("one_entry"), {}, 4), options),
                 NoDeviceError)
        << kernel.name;
  }
}

}  // namespace csrkit::testing
