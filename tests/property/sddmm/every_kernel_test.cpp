// Every SDDMM kernel of the CPU on the battery, in every capability that it declares.
#include <cstdlib>
#include <map>

#include "cpu/common/instruction_set.h"
#include "cpu/common/kernels.h"
#include "tests/property/sddmm/battery.h"

namespace csrkit {
namespace {

using namespace testing;

class SddmmKernelContract : public ::testing::TestWithParam<std::size_t> {
 protected:
  const SddmmKernel& kernel() const { return cpu::sddmm_kernels()[GetParam()]; }
};

std::vector<Execution> thread_counts() {
  std::vector<Execution> all;
  for (const int threads : {1, 2, 5}) {
    all.emplace_back();
    all.back().threads = threads;
  }
  return all;
}

TEST_P(SddmmKernelContract, IsRightOnTheBattery) {
  SddmmCase item;
  item.executions = thread_counts();
  for (const BatteryMatrix& matrix : spmm_battery()) {
    SCOPED_TRACE(matrix.name);
    const CsrMatrix a = matrix.make();
    for (const Index dense_cols : {1, 3, 16, 41}) {
      for (const bool multiplies_by_a : {false, true}) {
        item.multiplies_by_a = multiplies_by_a;
        check_sddmm_kernel_on(kernel(), a, dense_cols, item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(SddmmKernelContract, IsRightInEveryWidth) {
  const CsrMatrix a = matrix_where(20, 20, [](Index i, Index j) { return j < i; });
  for (const Index dense_cols : sddmm_dense_cols()) {
    for (SddmmCase item : sddmm_kinds_within(kernel().capabilities)) {
      if (item.multiplies_by_a) continue;
      for (const Offset padding : {0, 3}) {
        item.padding = padding;
        check_sddmm_kernel_on(kernel(), a, dense_cols, item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(SddmmKernelContract, IsRightInEveryKindAndScale) {
  const CsrMatrix a = random_matrix(257, 129, 0.05);
  for (SddmmCase item : sddmm_kinds_within(kernel().capabilities)) {
    item.executions = thread_counts();
    for (const auto& [alpha, beta] : {std::pair(1.0, 0.0), {-0.75, 0.0}, {1.0, 1.0}, {2.5, -0.5}}) {
      item.alpha = alpha;
      item.beta = beta;
      item.padding = beta == 0 ? 0 : 5;
      check_sddmm_kernel_on(kernel(), a, 33, item);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(SddmmKernelContract, KeepsInfinitiesAndNans) {
  const CsrMatrix a = random_matrix(60, 50, 0.3);
  for (SddmmCase item : sddmm_kinds_within(kernel().capabilities)) {
    for (const BPattern pattern : {BPattern::not_all_finite, BPattern::every_size}) {
      item.pattern = pattern;
      for (const Index dense_cols : {1, 17, 64}) {
        check_sddmm_kernel_on(kernel(), a, dense_cols, item);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The tail of a row must not be made with what lies behind it: a NaN there would show.
TEST_P(SddmmKernelContract, PaddingIsNotLookedAt) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
    for (const Index dense_cols : {1, 5, 9, 23, 41}) {
      SddmmProblem problem = default_sddmm_problem(random_matrix(30, 30, 0.4), dense_cols);
      set_dense_kind(&problem, kind);
      DenseMatrix x(30, dense_cols, kind, dense_cols + 19), y(30, dense_cols, kind, dense_cols + 7);
      fill_nan(x.view());
      fill_nan(y.view());
      fill_random(x.view(), 1);
      fill_random(y.view(), 2);
      DenseMatrix c(1, static_cast<Index>(problem.a.nnz()), problem.c);
      fill_nan(c.view());
      const auto plan = kernel().make_plan(problem, {});
      plan->bind(x.view(), y.view(), values_of(c.view()));
      plan->multiply();
      const CheckResult result =
          check_sddmm(problem, x.view(), y.view(), 1, 0, nullptr, values_of(c.view()));
      ASSERT_TRUE(result.passed) << csrkit::name_of(kind) << " K=" << dense_cols << ": "
                                 << result.failure;
    }
  }
}

TEST_P(SddmmKernelContract, RefusesWhatDoesNotFit) {
  const CsrMatrix a = convert_values(random_matrix(9, 7, 0.5), ValueKind::f32);
  const SddmmProblem problem = default_sddmm_problem(a, 4);
  const auto plan = kernel().make_plan(problem, {});
  DenseMatrix x(9, 4, ValueKind::f32), y(7, 4, ValueKind::f32);
  DenseMatrix c(1, static_cast<Index>(a.nnz()), ValueKind::f32);
  EXPECT_THROW(plan->multiply(), UsageError) << "nothing is bound yet";
  const auto refuses = [&](const ConstDenseView& x_view, const ConstDenseView& y_view,
                           const ValuesView& c_view) {
    EXPECT_THROW(plan->bind(x_view, y_view, c_view), UsageError);
  };
  refuses(DenseMatrix(8, 4, ValueKind::f32).view(), y.view(), values_of(c.view()));
  refuses(x.view(), DenseMatrix(9, 4, ValueKind::f32).view(), values_of(c.view()));
  refuses(x.view(), DenseMatrix(7, 5, ValueKind::f32).view(), values_of(c.view()));
  refuses(DenseMatrix(9, 4, ValueKind::f64).view(), y.view(), values_of(c.view()));
  ValuesView wrong = values_of(c.view());
  wrong.size -= 1;
  refuses(x.view(), y.view(), wrong);
  wrong = values_of(c.view());
  wrong.kind = ValueKind::bf16;
  refuses(x.view(), y.view(), wrong);
  ConstDenseView on_device = x.view();
  on_device.space = MemorySpace::device;
  refuses(on_device, y.view(), values_of(c.view()));
  SddmmProblem none = problem;
  none.dense_cols = 0;
  EXPECT_THROW(kernel().make_plan(none, {}), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Cpu, SddmmKernelContract,
                         ::testing::Range<std::size_t>(0, cpu::sddmm_kernels().size()),
                         [](const auto& param_info) {
                           return std::string(cpu::sddmm_kernels()[param_info.param].name);
                         });

// The loops of narrower machines, which this one can run as well.
TEST(SddmmKernels, AreRightForEveryInstructionSet) {
  const char* const before = std::getenv("CSRKIT_CPU_ISA");
  const std::string kept = before == nullptr ? "" : before;
  const CsrMatrix a = random_matrix(60, 50, 0.3);
  for (const cpu::Isa isa : {cpu::Isa::portable, cpu::Isa::avx2, cpu::Isa::avx512}) {
    if (!cpu::is_supported(isa)) continue;
    ASSERT_EQ(setenv("CSRKIT_CPU_ISA", cpu::name_of(isa), 1), 0);
    SCOPED_TRACE(cpu::name_of(isa));
    for (SddmmCase item : sddmm_kinds_within(kEverySddmm)) {
      for (const Index dense_cols : {1, 4, 7, 8, 15, 16, 17, 41, 100}) {
        item.padding = dense_cols % 3;
        item.pattern = dense_cols % 2 == 0 ? BPattern::random : BPattern::not_all_finite;
        check_sddmm_kernel_on(find_kernel(cpu::sddmm_kernels(), "nnz_balanced"), a, dense_cols,
                              item);
        if (HasFatalFailure()) break;
      }
    }
  }
  before == nullptr ? unsetenv("CSRKIT_CPU_ISA") : setenv("CSRKIT_CPU_ISA", kept.c_str(), 1);
}

TEST(SddmmKernels, GiveSampledAddmm) {
  // beta A + alpha X Y^T at A's positions, by hand.
  const CsrMatrix a = matrix_of(2, 3, {{0, 0, 5}, {0, 2, -1}, {1, 1, 2}});
  DenseMatrix x(2, 2, ValueKind::f64), y(3, 2, ValueKind::f64);
  const double of_x[] = {1, 2, 3, 4}, of_y[] = {1, 0, 0, 1, 2, 2};
  std::memcpy(x.view().data, of_x, sizeof of_x);
  std::memcpy(y.view().data, of_y, sizeof of_y);
  for (const SddmmKernel& kernel : cpu::sddmm_kernels()) {
    double c[] = {5, -1, 2};
    const auto plan = kernel.make_plan(default_sddmm_problem(a, 2), {});
    plan->bind(x.view(), y.view(), {c, ValueKind::f64, 3});
    plan->multiply(2, 10);
    EXPECT_EQ(c[0], 2 * 1 + 50) << kernel.name;
    EXPECT_EQ(c[1], 2 * 6 - 10) << kernel.name;
    EXPECT_EQ(c[2], 2 * 4 + 20) << kernel.name;
    SddmmProblem scaled = default_sddmm_problem(a, 2);
    scaled.multiplies_by_a = true;
    const auto times_a = kernel.make_plan(scaled, {});
    times_a->bind(x.view(), y.view(), {c, ValueKind::f64, 3});
    times_a->multiply();
    EXPECT_EQ(c[0], 5 * 1) << kernel.name;
    EXPECT_EQ(c[1], -6) << kernel.name;
    EXPECT_EQ(c[2], 8) << kernel.name;
  }
}

TEST(SddmmKernelTable, NamesAreUniqueAndAutoIsThere) {
  std::map<std::string, int> seen;
  for (const SddmmKernel& kernel : cpu::sddmm_kernels()) ++seen[kernel.name];
  for (const auto& [name, count] : seen) EXPECT_EQ(count, 1) << name;
  EXPECT_EQ(find_kernel(cpu::sddmm_kernels(), "auto").role, Role::production);
  EXPECT_EQ(find_kernel(cpu::sddmm_kernels(), "reference").role, Role::reference);
}

}  // namespace
}  // namespace csrkit
