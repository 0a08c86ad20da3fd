// An f32 matrix with dense operands of 16 bits, in every kernel that declares it.

#include "cpu/common/kernels.h"
#include "tests/property/spmm/battery.h"

namespace csrkit::testing {

namespace {

std::vector<Kinds> narrow_kinds() {
  std::vector<Kinds> all;
  for (const ValueKind b : {ValueKind::f16, ValueKind::bf16}) {
    for (const ValueKind c : {ValueKind::f32, b}) {
      all.push_back({ValueKind::f32, b, c, ValueKind::f32});
    }
  }
  return all;
}

}  // namespace

TEST(NarrowOperands, EqualTheReferenceInEveryKernel) {
  const std::pair<const char*, CsrMatrix> matrices[] = {
      {"random", random_matrix(257, 129, 0.05)},
      {"a huge row",
       matrix_where(37, 6007, [](Index i, Index j) { return i == 17 || j % 1501 == i; })},
      {"no entries", random_matrix(5, 4, 0)}};
  int kernels = 0;
  for (const SpmmKernel& kernel : cpu::spmm_kernels()) {
    if (!kernel.can(kNarrowOperands)) continue;
    ++kernels;
    for (const Kinds& kinds : narrow_kinds()) {
      KernelCase item;
      item.kinds = kinds;
      for (const auto& [name, matrix] : matrices) {
        for (const bool transpose_a : {false, true}) {
          item.transpose_a = transpose_a;
          item.padding = transpose_a ? 3 : 0;
          item.beta = transpose_a ? -0.5 : 0;
          SCOPED_TRACE(std::string(kernel.name) + " " + name);
          for (const Index dense_cols : {1, 15, 32, 100}) {
            check_kernel_on(kernel, matrix, dense_cols, item);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GE(kernels, 4);  // auto, both production kernels, the reference
}

TEST(NarrowOperands, AreRefusedByOthersWithASentence) {
  KernelCase item;
  item.kinds = narrow_kinds()[0];
  const SpmmProblem problem = problem_of(random_matrix(9, 7, 0.3), item, 8);
  try {
    find_kernel(cpu::spmm_kernels(), "row_loop").make_plan(problem, {});
    FAIL() << "it was taken";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("an f32 matrix with dense operands of 16 bits"),
              std::string::npos);
  }
}

}  // namespace csrkit::testing
