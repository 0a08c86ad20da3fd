// Registry x battery x kinds: a kernel is tested by its line in gpu/spgemm/kernels.inc.

#include "core/judge/compare.h"
#include "gpu/plan/kernels.h"
#include "gpu/spgemm/dense_tiles/dense_tiles.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/property/spgemm/battery.h"

namespace csrkit::testing {

namespace {

std::vector<std::string> names_where(bool with_vendors) {
  std::vector<std::string> names;
  for (const SpgemmKernel& kernel : gpu::spgemm_kernels()) {
    if (with_vendors || kernel.role != Role::vendor) names.push_back(kernel.name);
  }
  return names;
}

/// The battery, made once.
const std::vector<std::pair<std::string, ProductOperands>>& made_products() {
  static const std::vector<std::pair<std::string, ProductOperands>> made = [] {
    std::vector<std::pair<std::string, ProductOperands>> all;
    for (const BatteryProduct& product : spgemm_battery()) {
      all.emplace_back(product.name, product.make());
    }
    return all;
  }();
  return made;
}

const ProductOperands& battery_product(const std::string& wanted) {
  for (const auto& [name, operands] : made_products()) {
    if (wanted == name) return operands;
  }
  throw UsageError("no product '" + wanted + "' in the battery");
}

std::string name_of_param(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

class EveryGpuSpgemmKernel : public GpuKernelTest {
 protected:
  const SpgemmKernel& kernel() const { return find_kernel(gpu::spgemm_kernels(), GetParam()); }

  PlanOptions options() const {
    PlanOptions options;
    options.deterministic = kernel().can(kDeterministic);
    return options;
  }

  /// A vendor may lack what IEEE says about these.
  bool is_beyond(const std::string& name) const {
    return !kernel().can(kIeeeSpecials) &&
           (name == "nan_and_infinities" || name == "values_that_overflow");
  }

  /// The classic rungs walk every product again for every tile of columns: seconds, where there are
  /// millions of columns. Those they get once, in a test of their own.
  bool is_too_wide(const ProductOperands& operands) const {
    return kernel().role == Role::ladder && operands.b.cols() > 1000000;
  }

  /// dense_tiles refuses what it does not suit (dense_tiles_test.cpp); the rest of the battery is
  /// for it as well.
  bool is_refused(const ProductOperands& operands) const {
    return GetParam() == "dense_tiles" &&
           !gpu::why_no_dense_tiles(problem_of(operands, {})).empty();
  }

  void check_battery(const ProductCase& item) {
    on_test_threads(made_products().size(), [&](std::size_t i) {
      const auto& [name, operands] = made_products()[i];
      if (is_beyond(name) || is_too_wide(operands) || is_refused(operands)) return;
      SCOPED_TRACE(name);
      check_kernel_on(kernel(), operands, item);
    });
  }
};

}  // namespace

TEST_P(EveryGpuSpgemmKernel, IsRightInEveryKind) {
  for (const ProductKinds& kinds : product_kinds_within(kernel().capabilities)) {
    ProductCase item;
    item.kinds = kinds;
    check_battery(item);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryGpuSpgemmKernel, IsRightOnMillionsOfColumns) {
  for (const auto& [name, operands] : made_products()) {
    if (!is_too_wide(operands) || is_refused(operands)) continue;
    SCOPED_TRACE(name);
    const SpgemmProblem problem = problem_of(operands, {});
    const auto plan = kernel().make_plan(problem, options());
    const CheckResult result = check_spgemm(problem, product_of(*plan, problem));
    EXPECT_TRUE(result.passed) << result.failure;
  }
}

TEST_P(EveryGpuSpgemmKernel, ObeysOptions) {
  const auto check = [&](Capabilities needed, auto change) {
    if (!kernel().can(needed)) return;
    for (const ProductKinds& kinds : {ProductKinds{ValueKind::f64, ValueKind::f64, ValueKind::f64},
                                      {ValueKind::none, ValueKind::f32, ValueKind::f32}}) {
      ProductCase item;
      item.kinds = kinds;
      change(item);
      check_battery(item);
    }
  };
  check(kTranspose, [](ProductCase& item) { item.transpose_b = true; });
  check(kAlphaBeta, [](ProductCase& item) { item.alpha = -1.25; });
  check(kDropBelow, [](ProductCase& item) { item.drop_below = 0.25; });
  check(kMask, [](ProductCase& item) { item.with_mask = true; });
  check(kMask | kDropBelow | kTranspose | kAlphaBeta, [](ProductCase& item) {
    item.with_mask = item.transpose_b = true;
    item.drop_below = 0.1;
    item.alpha = 2;
  });
}

TEST_P(EveryGpuSpgemmKernel, WorksInEverySemiring) {
  if (!kernel().can(kSemirings)) return;
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      ProductCase item;
      item.kinds = {kind, kind, kind};
      item.semiring = semiring;
      check_battery(item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryGpuSpgemmKernel, MakesCInBlocksOfRowsWhenMemoryIsShort) {
  if (!kernel().can(kRowBlocks)) return;
  for (const char* name : {"arrow", "power_law", "hub_times_hub", "dense_and_wide"}) {
    for (const bool with_mask : {false, true}) {
      SCOPED_TRACE(std::string(name) + (with_mask ? " masked" : ""));
      ProductCase item;
      item.with_mask = with_mask;
      const SpgemmProblem problem = problem_of(battery_product(name), item);
      PlanOptions limited = options();
      const auto whole_plan = kernel().make_plan(problem, limited);
      const SpgemmForecast forecast = whole_plan->forecast();
      const CsrMatrix whole = product_of(*whole_plan, problem);
      limited.memory_limit_bytes = forecast.whole_bytes - forecast.output_bytes_bound / 4;
      const auto plan = kernel().make_plan(problem, limited);
      CopyingSink sink(problem);
      plan->multiply(sink);
      const CsrMatrix in_blocks = sink.finish();
      EXPECT_GT(sink.blocks(), 1);
      EXPECT_EQ(plan->phases().row_blocks, sink.blocks());
      EXPECT_LE(plan->forecast().peak_bytes, limited.memory_limit_bytes);
      EXPECT_LE(plan->phases().peak_bytes, limited.memory_limit_bytes);
      EXPECT_GT(plan->time_multiply(), 0);
      const CheckResult result = check_spgemm(problem, in_blocks);
      ASSERT_TRUE(result.passed) << result.failure;
      if (kernel().can(kDeterministic)) {
        ASSERT_TRUE(identical(whole, in_blocks)) << "blocks of rows gave other bits";
      }
      limited.memory_limit_bytes = 1000;
      EXPECT_THROW(kernel().make_plan(problem, limited), MemoryError);
    }
  }
}

TEST_P(EveryGpuSpgemmKernel, RunsInTheCallersStreamWithWarmAndColdCaches) {
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const SpgemmProblem problem = problem_of(battery_product("power_law"), {});
  {
    PlanOptions in_stream = options();
    in_stream.where.stream = stream;
    const auto plan = kernel().make_plan(problem, in_stream);
    EXPECT_GT(plan->time_multiply(), 0);
    plan->evict_caches();
    EXPECT_GT(plan->time_multiply(), 0);
    const CheckResult result = check_spgemm(problem, product_of(*plan, problem));
    EXPECT_TRUE(result.passed) << result.failure;
    const SpgemmPhases phases = plan->phases();
    EXPECT_GT(phases.upload_seconds, 0);
    EXPECT_GT(phases.numeric_seconds, 0);
    EXPECT_GT(phases.output_seconds, 0);
    EXPECT_EQ(phases.row_blocks, 1);
  }
  CHECK_CUDA(cudaStreamDestroy(stream));
}

TEST_P(EveryGpuSpgemmKernel, RefusesWhatItDoesNotDeclare) {
  const SpgemmProblem problem = problem_of(battery_product("tridiagonal"), {});
  if (!kernel().can(kDeterministic)) {
    EXPECT_THROW(kernel().make_plan(problem, {}), UsageError);
  }
  PlanOptions wrong = options();
  wrong.where.schedule = Schedule::dynamic;
  EXPECT_THROW(kernel().make_plan(problem, wrong), UsageError);
  wrong = options();
  wrong.where.device = 12345;
  EXPECT_THROW(kernel().make_plan(problem, wrong), NoDeviceError);
  SpgemmProblem ring = problem;
  ring.semiring = Semiring::min_plus;
  if (!kernel().can(kSemirings)) {
    EXPECT_THROW(kernel().make_plan(ring, options()), UsageError);
  }
  const auto plan = kernel().make_plan(problem, options());
  const CsrMatrix other = random_matrix(300, 300, 0.1);
  EXPECT_THROW(plan->set_values(other, other), UsageError);
  if (!kernel().can(kReuse)) {
    EXPECT_THROW(plan->set_values(problem.a, problem.b), UsageError);
    EXPECT_THROW(plan->time_numeric(), UsageError);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryGpuSpgemmKernel, ::testing::ValuesIn(names_where(true)),
                         name_of_param);

/// For compute-sanitizer: our own kernels on what is small and mean.
class SanitizerGpuSpgemm : public GpuKernelTest {};

TEST_P(SanitizerGpuSpgemm, SmallAdversarialProducts) {
  const SpgemmKernel& kernel = find_kernel(gpu::spgemm_kernels(), GetParam());
  const char* const names[] = {"nothing_times_nothing",
                               "no_rows",
                               "no_inner",
                               "all_rows_empty",
                               "one_entry",
                               "row_times_column",
                               "compression_of_n",
                               "all_dense",
                               "tridiagonal",
                               "one_source_row_each",
                               "around_vector_and_table_sizes",
                               "values_that_cancel",
                               "explicit_zeros"};
  on_test_threads(std::size(names), [&](std::size_t i) {
    SCOPED_TRACE(names[i]);
    for (const ProductKinds& kinds : {ProductKinds{ValueKind::f64, ValueKind::f64, ValueKind::f64},
                                      {ValueKind::none, ValueKind::f16, ValueKind::f32}}) {
      ProductCase item;
      item.kinds = kinds;
      item.with_mask = kinds.a == ValueKind::none;
      item.alpha = 1.5;
      check_kernel_on(kernel, battery_product(names[i]), item);
    }
  });
}

/// dense_tiles has a suite of its own: racecheck takes minutes for tiles of 107 KiB in every
/// product.
std::vector<std::string> names_for_sanitizer() {
  std::vector<std::string> names = names_where(false);
  names.erase(std::remove(names.begin(), names.end(), "dense_tiles"), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(, SanitizerGpuSpgemm, ::testing::ValuesIn(names_for_sanitizer()),
                         name_of_param);

TEST(GpuSpgemmRegistry, NamesAreUniqueAndAutoDoesEverything) {
  std::vector<std::string> names = names_where(true);
  for (const char* name : {"auto", "adaptive_rows"}) {
    EXPECT_TRUE(find_kernel(gpu::spgemm_kernels(), name).can(kSpgemmEverything)) << name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(GpuSpgemmRegistry, AutoChoosesAKernelThatCan) {
  const CsrMatrix dense = random_matrix(1500, 1500, 0.2);
  const CsrMatrix sparse = random_matrix(1500, 1500, 0.01);
  for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
    ProductCase item;
    item.semiring = semiring;
    EXPECT_EQ(gpu::auto_spgemm_kernel(problem_of(squared(dense), item)),
              semiring == Semiring::plus_times ? "dense_tiles" : "adaptive_rows");
    EXPECT_EQ(gpu::auto_spgemm_kernel(problem_of(squared(sparse), item)), "adaptive_rows");
  }
}

TEST(GpuSpgemmRegistry, OptionsAreRefusedWhereTheyWouldBeIgnored) {
  const SpgemmProblem problem = problem_of(battery_product("one_entry"), {});
  const SavedAnalysis saved(64);
  for (const SpgemmKernel& kernel : gpu::spgemm_kernels()) {
    PlanOptions plain;
    plain.deterministic = kernel.can(kDeterministic);
    PlanOptions with = plain;
    with.variant = "nonsense";
    EXPECT_THROW(kernel.make_plan(problem, with), UsageError) << kernel.name;
    with = plain;
    with.saved = &saved;
    EXPECT_THROW(kernel.make_plan(problem, with), UsageError) << kernel.name;
  }
}

TEST(GpuSpgemmRegistry, WithoutAGpuEveryKernelSaysSo) {
  if (missing_gpu().empty()) GTEST_SKIP() << "there is a GPU";
  for (const SpgemmKernel& kernel : gpu::spgemm_kernels()) {
    PlanOptions options;
    options.deterministic = kernel.can(kDeterministic);
    EXPECT_THROW(kernel.make_plan(problem_of(battery_product("one_entry"), {}), options),
                 NoDeviceError)
        << kernel.name;
  }
}

}  // namespace csrkit::testing
