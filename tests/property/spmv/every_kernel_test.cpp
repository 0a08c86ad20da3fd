// Every CPU SpMV kernel against every matrix of the battery of SpMM, with one column. A new kernel
// is tested by its line in cpu/spmv/kernels.inc: inside its declared capabilities it must satisfy
// the judge of the battery, outside it must refuse with UsageError.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <tuple>

#include "cpu/common/instruction_set.h"
#include "cpu/common/kernels.h"
#include "tests/property/spmm/battery.h"
#include "tests/property/spmm/new_values.h"

namespace csrkit {
namespace {

using namespace csrkit::testing;

Execution with_threads(int threads) {
  Execution where;
  where.threads = threads;
  return where;
}

std::vector<Execution> all_teams() {
  return {with_threads(1), with_threads(2), with_threads(3), with_threads(7)};
}

/// A stencil large enough for several pieces per thread, with rows that end at the grid's edge and
/// a last slice that is not full.
CsrMatrix grid(Index width, Index height, bool has_one_value) {
  std::vector<Entry> entries;
  const Index rows = width * height;
  for (Index i = 0; i < rows; ++i) {
    const auto add = [&](Index j) {
      const double constant = j == i ? 4 : -1;
      entries.push_back({i, j, has_one_value ? constant : random_value(21, i, j)});
    };
    if (i >= width) add(i - width);
    if (i % width > 0) add(i - 1);
    add(i);
    if (i % width + 1 < width) add(i + 1);
    if (i + width < rows) add(i + width);
  }
  return matrix_of(rows, rows, std::move(entries));
}

/// What the formats of SpMV look for, beside the battery of SpMM.
std::vector<BatteryMatrix> battery() {
  std::vector<BatteryMatrix> all = spmm_battery();
  all.push_back({"constant_stencil", [] { return grid(61, 37, true); }});
  all.push_back({"random_stencil", [] { return grid(61, 37, false); }});
  all.push_back({"dense_blocks_of_three", [] {
                   return matrix_where(151, 151, [](Index i, Index j) {
                     return (i / 3 * 7 + j / 3 * 5) % 11 == 0;
                   });
                 }});
  all.push_back({"columns_far_apart", [] {
                   std::vector<Entry> entries;
                   for (Index i = 0; i < 90; ++i) {
                     for (Index k = 0; k < 3; ++k) {
                       const Index j = k * 66000 + i * (k + 1);
                       entries.push_back({i, j, random_value(22, i, j)});
                     }
                   }
                   return matrix_of(90, 140000, std::move(entries));
                 }});
  all.push_back({"one_value_that_is_infinite", [] {
                   std::vector<Entry> entries;
                   for (Index i = 0; i < 100; ++i) {
                     if (i % 7 != 3) entries.push_back({i, i, HUGE_VAL});
                     if (i % 5 != 1 && i < 99) entries.push_back({i, i + 1, 2.0});
                   }
                   return matrix_of(100, 100, std::move(entries));
                 }});
  // A hub of two pieces in the midst of rows that share its slice.
  all.push_back({"hub_among_short_rows", [] {
                   return matrix_where(45, 40000, [](Index i, Index j) {
                     return i == 20 ? j % 4 != 1 : j % 20011 == i;
                   });
                 }});
  return all;
}

struct KernelRun {
  std::string label;
  const SpmmKernel* kernel;
  std::string isa;  // for CSRKIT_CPU_ISA
};

/// Production kernels run on every instruction set that this machine has.
std::vector<KernelRun> make_kernel_runs() {
  std::vector<KernelRun> runs;
  for (const SpmmKernel& kernel : cpu::spmv_kernels()) {
    runs.push_back({kernel.name, &kernel, ""});
    if (kernel.role != Role::production) continue;
    runs.push_back({std::string(kernel.name) + "_portable", &kernel, "portable"});
    if (cpu::is_supported(cpu::Isa::avx2)) {
      runs.push_back({std::string(kernel.name) + "_avx2", &kernel, "avx2"});
    }
  }
  return runs;
}

/// Made once: thousands of names ask for it whenever the program starts.
const std::vector<KernelRun>& all_kernel_runs() {
  static const std::vector<KernelRun> runs = make_kernel_runs();
  return runs;
}

class EverySpmvKernel : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  void SetUp() override {
    const KernelRun run = all_kernel_runs()[std::get<0>(GetParam())];
    kernel_ = run.kernel;
    matrix_ = battery()[std::get<1>(GetParam())].make();
    if (!run.isa.empty()) setenv("CSRKIT_CPU_ISA", run.isa.c_str(), 1);
  }
  void TearDown() override { unsetenv("CSRKIT_CPU_ISA"); }

  void check(const KernelCase& item) { check_kernel_on(*kernel_, matrix_, 1, item); }

  const SpmmKernel* kernel_ = nullptr;
  CsrMatrix matrix_;
};

TEST_P(EverySpmvKernel, IsRight) {
  for (const Kinds& kinds : kinds_within(kernel_->capabilities)) {
    for (const BPattern pattern :
         {BPattern::random, BPattern::every_size, BPattern::not_all_finite}) {
      for (const bool transpose_a : {false, true}) {
        KernelCase item;
        item.kinds = kinds;
        item.pattern = pattern;
        item.transpose_a = transpose_a && kernel_->can(kTranspose);
        item.padding = transpose_a && kernel_->can(kLeadingDimension) ? 3 : 0;
        item.executions =
            pattern == BPattern::random ? all_teams() : std::vector<Execution>{with_threads(2)};
        check(item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EverySpmvKernel, ScalesAndAdds) {
  if (!kernel_->can(kAlphaBeta)) return;
  const std::vector<Kinds> all_kinds = kinds_within(kernel_->capabilities);
  std::size_t turn = 0;
  for (const auto& [alpha, beta] :
       {std::pair(-1.25, 0.0), std::pair(1.0, 1.0), std::pair(0.3, -0.7), std::pair(0.0, 2.0)}) {
    for (const Offset padding : {0, 2}) {
      KernelCase item;
      item.kinds = all_kinds[turn++ % all_kinds.size()];
      item.alpha = alpha, item.beta = beta;
      item.padding = kernel_->can(kLeadingDimension) ? padding : 0;
      item.executions = {with_threads(1), with_threads(3)};
      check(item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EverySpmvKernel, KnowsTheOtherSemirings) {
  if (!kernel_->can(kSemirings)) return;
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    for (const Kinds& kinds : kinds_within(kernel_->capabilities & ~(kF16 | kBf16))) {
      for (const BPattern pattern : {BPattern::integers, BPattern::not_all_finite}) {
        KernelCase item;
        item.kinds = kinds;
        item.semiring = semiring;
        item.pattern = pattern;
        item.transpose_a = pattern == BPattern::integers;
        item.executions = {with_threads(1), with_threads(3)};
        check(item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, EverySpmvKernel,
                         ::testing::Combine(::testing::Range<std::size_t>(0,
                                                                          all_kernel_runs().size()),
                                            ::testing::Range<std::size_t>(0, battery().size())),
                         [](const auto& param_info) {
                           return all_kernel_runs()[std::get<0>(param_info.param)].label + "_on_" +
                                  battery()[std::get<1>(param_info.param)].name;
                         });

// ---------------------------------------------------------------- kernel

class SpmvKernelContract : public ::testing::TestWithParam<std::size_t> {
 protected:
  const SpmmKernel& kernel() const { return cpu::spmv_kernels()[GetParam()]; }
  PlanOptions options() const {
    PlanOptions result;
    result.deterministic = kernel().can(kDeterministic);
    return result;
  }
};

TEST_P(SpmvKernelContract, OutsideItsCapabilitiesItSaysSo) {
  const CsrMatrix f64 = spmm_battery().back().make();
  const auto expect_refusal = [&](const SpmmProblem& problem, const PlanOptions& with) {
    const Capabilities missing = (needed_for(problem) | needed_for(with)) & ~kernel().capabilities;
    if (missing == 0) {
      EXPECT_NO_THROW(kernel().make_plan(problem, with));
    } else {
      EXPECT_THROW(kernel().make_plan(problem, with), UsageError);
    }
  };
  for (const Kinds& kinds : kinds_within(kEverySpmv)) {
    KernelCase item;
    item.kinds = kinds;
    expect_refusal(problem_of(f64, item, 1), options());
    expect_refusal(problem_of(f64, item, 2), options());
    item.transpose_a = true;
    expect_refusal(problem_of(f64, item, 1), options());
    if (kinds.b == ValueKind::f16 || kinds.b == ValueKind::bf16) continue;
    item.semiring = Semiring::min_plus;
    expect_refusal(problem_of(f64, item, 1), options());
  }
  PlanOptions scheduled = options();
  scheduled.where.schedule = Schedule::guided;
  expect_refusal(default_spmm_problem(f64, 1), scheduled);
}

TEST_P(SpmvKernelContract, TheIdentityIsNeutral) {
  const Index size = 1031;
  for (const Kinds& kinds : kinds_within(kernel().capabilities)) {
    if (kinds.b != kinds.c) continue;
    KernelCase item;
    item.kinds = kinds;
    const SpmmProblem problem = problem_of(identity_matrix(size, ValueKind::f64), item, 1);
    DenseMatrix x(size, 1, kinds.b), y(size, 1, kinds.c);
    fill_random(x.view(), 5);
    fill_nan(y.view());
    const auto plan = kernel().make_plan(problem, options());
    plan->bind(x.view(), y.view());
    plan->multiply();
    ASSERT_EQ(std::memcmp(x.view().data, y.view().data, x.size_bytes()), 0)
        << kernel().name << " " << name_of(kinds);
  }
}

TEST_P(SpmvKernelContract, TakesNewValuesOrRefuses) {
  check_new_values(kernel(), options(), 1, "csr_balanced");
}

TEST_P(SpmvKernelContract, RefusesWhatDoesNotFit) {
  const CsrMatrix matrix = convert_values(random_matrix(9, 7, 0.5), ValueKind::f32);
  const auto plan = kernel().make_plan(default_spmm_problem(matrix, 1), options());
  DenseMatrix x(7, 1, ValueKind::f32), y(9, 1, ValueKind::f32);
  EXPECT_THROW(plan->multiply(), UsageError) << "nothing is bound yet";
  EXPECT_THROW(plan->bind(DenseMatrix(8, 1, ValueKind::f32).view(), y.view()), UsageError);
  EXPECT_THROW(plan->bind(x.view(), DenseMatrix(9, 2, ValueKind::f32).view()), UsageError);
}

TEST_P(SpmvKernelContract, KeepsToTheMemoryLimit) {
  if (!kernel().can(kTranspose)) return;
  SpmmProblem problem =
      default_spmm_problem(convert_values(random_matrix(300, 200, 0.3), ValueKind::f32), 1);
  problem.transpose_a = true;
  PlanOptions limited = options();
  limited.memory_limit_bytes = 1000;
  EXPECT_THROW(kernel().make_plan(problem, limited), MemoryError);
  limited.memory_limit_bytes = 10u << 20;
  const auto plan = kernel().make_plan(problem, limited);
  EXPECT_GE(plan->phases().peak_bytes, problem.a.size_bytes() / 2);
  EXPECT_LE(plan->phases().peak_bytes, limited.memory_limit_bytes);
}

INSTANTIATE_TEST_SUITE_P(Cpu, SpmvKernelContract,
                         ::testing::Range<std::size_t>(0, cpu::spmv_kernels().size()),
                         [](const auto& param_info) {
                           return std::string(cpu::spmv_kernels()[param_info.param].name);
                         });

TEST(SpmvKernelTable, NamesAreUniqueAndAutoIsThere) {
  std::map<std::string, int> seen;
  for (const SpmmKernel& kernel : cpu::spmv_kernels()) ++seen[kernel.name];
  for (const auto& [name, count] : seen) EXPECT_EQ(count, 1) << name;
  EXPECT_EQ(find_kernel(cpu::spmv_kernels(), "auto").role, Role::production);
}

}  // namespace
}  // namespace csrkit
