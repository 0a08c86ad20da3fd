// Every CPU SpGEMM kernel against every product of the battery. A new kernel is tested by its line
// in cpu/spgemm/kernels.inc: inside its declared capabilities it must satisfy the judge of
// spgemm_battery.h, outside it must refuse with UsageError.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tuple>

#include "cpu/common/kernels.h"
#include "tests/property/spgemm/battery.h"

namespace csrkit {
namespace {

using namespace csrkit::testing;

Execution with_threads(int threads) {
  Execution where;
  where.threads = threads;
  return where;
}

/// A kernel's name, or "adaptive_rows@<isa>" for the same kernel on an older machine.
struct KernelRun {
  std::string label;
  const SpgemmKernel* kernel;
  std::string isa;  // for CSRKIT_CPU_ISA
};

std::vector<KernelRun> make_kernel_runs() {
  std::vector<KernelRun> runs;
  for (const SpgemmKernel& kernel : cpu::spgemm_kernels()) {
    runs.push_back({kernel.name, &kernel, ""});
    if (kernel.name != std::string("adaptive_rows")) continue;
    runs.push_back({"adaptive_rows_portable", &kernel, "portable"});
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c")) {
      runs.push_back({"adaptive_rows_avx2", &kernel, "avx2"});
    }
#endif
  }
  return runs;
}

/// Made once: thousands of names ask for it whenever the program starts.
const std::vector<KernelRun>& all_kernel_runs() {
  static const std::vector<KernelRun> runs = make_kernel_runs();
  return runs;
}

class EverySpgemmKernel : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  void SetUp() override {
    const KernelRun run = all_kernel_runs()[std::get<0>(GetParam())];
    kernel_ = run.kernel;
    operands_ = spgemm_battery()[std::get<1>(GetParam())].make();
    if (run.isa.empty()) {
      unsetenv("CSRKIT_CPU_ISA");
    } else {
      setenv("CSRKIT_CPU_ISA", run.isa.c_str(), 1);
    }
  }
  void TearDown() override { unsetenv("CSRKIT_CPU_ISA"); }

  /// Big ones are made for one trait; once each is enough for what every kernel shares.
  bool is_big() const { return operands_.b.cols() > 100000 || operands_.a.nnz() > 20000; }

  const SpgemmKernel* kernel_ = nullptr;
  ProductOperands operands_;
};

TEST_P(EverySpgemmKernel, IsRight) {
  ProductCase item;
  item.executions = {with_threads(1), with_threads(7)};
  check_kernel_on(*kernel_, operands_, item);
  if (HasFatalFailure()) return;
  item.executions = {with_threads(2)};
  for (const ProductKinds& kinds : product_kinds_within(kernel_->capabilities)) {
    item.kinds = kinds;
    check_kernel_on(*kernel_, operands_, item);
    if (HasFatalFailure() || is_big()) return;
  }
}

TEST_P(EverySpgemmKernel, ObeysOptions) {
  const auto kinds_of = [&](std::size_t turn) {
    const auto all = product_kinds_within(kernel_->capabilities);
    return all[turn % all.size()];
  };
  std::size_t turn = 0;
  ProductCase item;
  item.executions = {with_threads(2)};
  const auto check = [&](Capabilities needed, auto change) {
    ProductCase changed = item;
    changed.kinds = kinds_of(turn++);
    change(changed);
    if (kernel_->can(needed)) {
      check_kernel_on(*kernel_, operands_, changed);
    } else {
      PlanOptions options;
      options.deterministic = false;
      EXPECT_THROW(kernel_->make_plan(problem_of(operands_, changed), options), UsageError);
    }
  };
  if (is_big()) {  // a mask, a threshold and a semiring once, the rest on smaller ones
    check(kMask | kDropBelow, [](ProductCase& c) {
      c.with_mask = true;
      c.drop_below = 0.1;
    });
    check(kUnsortedRows, [](ProductCase& c) {
      c.sorts_rows = false;
      c.executions = {with_threads(1), with_threads(7)};
    });
    check(kSemirings, [](ProductCase& c) {
      c.kinds = {ValueKind::f32, ValueKind::f32, ValueKind::f32};
      c.semiring = Semiring::max_times;
    });
    return;
  }
  check(kTranspose, [](ProductCase& c) { c.transpose_b = true; });
  check(kAlphaBeta, [](ProductCase& c) { c.alpha = -1.25; });
  check(kAlphaBeta, [](ProductCase& c) { c.alpha = 0; });
  check(kUnsortedRows, [](ProductCase& c) {
    c.sorts_rows = false;
    c.executions = {with_threads(1), with_threads(2), with_threads(7)};
  });
  check(kUnsortedRows | kMask | kDropBelow | kAlphaBeta, [](ProductCase& c) {
    c.sorts_rows = false;
    c.with_mask = true;
    c.drop_below = 0.1;
    c.alpha = 2;
  });
  check(kDropBelow, [](ProductCase& c) { c.drop_below = 0.25; });
  check(kMask, [](ProductCase& c) { c.with_mask = true; });
  check(kMask | kDropBelow | kTranspose | kAlphaBeta, [](ProductCase& c) {
    c.with_mask = c.transpose_b = true;
    c.drop_below = 0.1;
    c.alpha = 2;
  });
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    check(kSemirings, [&](ProductCase& c) {
      c.semiring = semiring;
      const ValueKind kind = turn % 2 == 0 ? ValueKind::f32 : ValueKind::f64;
      c.kinds = {kind, kind, kind};
      c.with_mask = turn % 3 == 0 && kernel_->can(kMask);
    });
    if (HasFatalFailure()) return;
  }
}

std::string name_of_case(
    const ::testing::TestParamInfo<std::tuple<std::size_t, std::size_t>>& info) {
  return all_kernel_runs()[std::get<0>(info.param)].label + "_on_" +
         spgemm_battery()[std::get<1>(info.param)].name;
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, EverySpgemmKernel,
    ::testing::Combine(::testing::Range(std::size_t{0}, all_kernel_runs().size()),
                       ::testing::Range(std::size_t{0}, spgemm_battery().size())),
    name_of_case);

TEST(EverySpgemmKernelInBlocks, GivesTheSameBits) {
  const ProductOperands operands = squared(random_matrix(400, 400, 0.03));
  const ProductOperands scattered{random_matrix(300, 200, 0.05), random_matrix(200, 5000, 0.02)};
  for (const SpgemmKernel& kernel : cpu::spgemm_kernels()) {
    if (!kernel.can(kRowBlocks)) continue;
    check_row_blocks(kernel, operands, {}, with_threads(2));
    ProductCase item;
    item.kinds = {ValueKind::f32, ValueKind::f32, ValueKind::f32};
    check_row_blocks(kernel, scattered, item, with_threads(1));
    check_row_blocks(kernel, squared(grid_with_flaws()), item, with_threads(2));
    item.sorts_rows = !kernel.can(kUnsortedRows);
    check_row_blocks(kernel, scattered, item, with_threads(2));
    check_row_blocks(kernel, squared(grid_with_flaws()), item, with_threads(3));
    if (HasFatalFailure()) return;
  }
}

TEST(EverySpgemmKernelOptions, AreRefusedWhereTheyWouldBeIgnored) {
  const CsrMatrix a = random_matrix(20, 20, 0.2);
  const SpgemmProblem problem = default_spgemm_problem(a, a);
  const SavedAnalysis saved(64);
  for (const SpgemmKernel& kernel : cpu::spgemm_kernels()) {
    PlanOptions plain;
    plain.deterministic = kernel.can(kDeterministic);
    EXPECT_NO_THROW(kernel.make_plan(problem, plain)) << kernel.name;
    PlanOptions with = plain;
    with.variant = "nonsense";
    EXPECT_THROW(kernel.make_plan(problem, with), UsageError) << kernel.name;
    with = plain;
    with.saved = &saved;
    EXPECT_THROW(kernel.make_plan(problem, with), UsageError) << kernel.name;
    with = plain;
    with.where.threads = -1;
    EXPECT_THROW(kernel.make_plan(problem, with), UsageError) << kernel.name;
  }
}

TEST(EverySpgemmKernelTimesIdentity, IsTheMatrix) {
  const CsrMatrix a = random_matrix(150, 130, 0.1);
  for (const SpgemmKernel& kernel : cpu::spgemm_kernels()) {
    PlanOptions options;
    options.deterministic = kernel.can(kDeterministic);
    const SpgemmProblem right = default_spgemm_problem(a, identity_matrix(130, ValueKind::f64));
    EXPECT_TRUE(identical(a, product_of(*kernel.make_plan(right, options), right))) << kernel.name;
    const SpgemmProblem left = default_spgemm_problem(identity_matrix(150, ValueKind::f64), a);
    EXPECT_TRUE(identical(a, product_of(*kernel.make_plan(left, options), left))) << kernel.name;
  }
}

}  // namespace
}  // namespace csrkit
