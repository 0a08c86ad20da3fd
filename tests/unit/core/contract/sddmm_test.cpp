#include "core/contract/sddmm.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

CsrMatrix one_entry(ValueKind kind) {
  Buffer<Offset> offsets(2);
  offsets[0] = 0;
  offsets[1] = 1;
  Buffer<Index> cols(1);
  cols[0] = 0;
  Buffer<double> values(1);
  values[0] = 2;
  return convert_values(
      CsrMatrix(1, 1, std::move(offsets), std::move(cols), ValueArray::from(std::move(values))),
      kind);
}

TEST(SddmmProblem, HasTheKindsOfTheMatrixByDefault) {
  const SddmmProblem plain = default_sddmm_problem(one_entry(ValueKind::none), 8);
  EXPECT_EQ(plain.x, ValueKind::f32);
  EXPECT_EQ(plain.c, ValueKind::f32);
  const SddmmProblem half = default_sddmm_problem(one_entry(ValueKind::bf16), 8);
  EXPECT_EQ(half.x, ValueKind::bf16);
  EXPECT_EQ(half.c, ValueKind::f32);
  const SddmmProblem wide = default_sddmm_problem(one_entry(ValueKind::f64), 8);
  EXPECT_EQ(wide.accumulate, ValueKind::f64);
}

TEST(SddmmProblem, KindsThatDoNotGoTogetherAreRefused) {
  SddmmProblem problem = default_sddmm_problem(one_entry(ValueKind::f64), 8);
  EXPECT_NO_THROW(require_legal(problem));
  set_dense_kind(&problem, ValueKind::f32);
  EXPECT_NO_THROW(require_legal(problem)) << "A's values are not looked at";
  problem.multiplies_by_a = true;
  EXPECT_THROW(require_legal(problem), UsageError);
  set_dense_kind(&problem, ValueKind::f64);
  EXPECT_NO_THROW(require_legal(problem));
  problem.c = ValueKind::f32;
  EXPECT_THROW(require_legal(problem), UsageError);
  set_dense_kind(&problem, ValueKind::none);
  EXPECT_THROW(require_legal(problem), UsageError);
  problem = default_sddmm_problem(one_entry(ValueKind::f32), 0);
  EXPECT_THROW(require_legal(problem), UsageError);
}

TEST(SddmmProblem, NeedsWhatItUses) {
  SddmmProblem problem = default_sddmm_problem(one_entry(ValueKind::f32), 8);
  EXPECT_EQ(needed_for(problem), kF32);
  problem.multiplies_by_a = true;
  EXPECT_EQ(needed_for(problem), kF32 | kTimesValues);
  set_dense_kind(&problem, ValueKind::f16);
  problem.c = ValueKind::f16;
  EXPECT_EQ(needed_for(problem), kF16 | kNarrowOutput | kTimesValues);
}

TEST(SddmmProblem, OperandsThatDoNotFitAreRefused) {
  const SddmmProblem problem = default_sddmm_problem(one_entry(ValueKind::f32), 3);
  alignas(16) float data[8] = {};
  const ConstDenseView x{data, ValueKind::f32, 1, 3, 3, MemorySpace::host};
  const ConstValuesView c{data, ValueKind::f32, 1, MemorySpace::host};
  const auto refusal = [&](const ConstDenseView& of_x, const ConstDenseView& of_y,
                           const ConstValuesView& of_c, Capabilities able = kF32) -> std::string {
    try {
      require_bindable(problem, able, of_x, of_y, of_c);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(x, x, c), "");
  ConstDenseView wrong = x;
  wrong.rows = 2;
  EXPECT_EQ(refusal(wrong, x, c), "X is 2 x 3; this product needs 1 x 3");
  EXPECT_EQ(refusal(x, wrong, c), "Y is 2 x 3; this product needs 1 x 3");
  wrong = x;
  wrong.cols = 2;
  EXPECT_EQ(refusal(wrong, x, c), "X is 1 x 2; this product needs 1 x 3");
  wrong = x;
  wrong.kind = ValueKind::f64;
  EXPECT_EQ(refusal(x, wrong, c), "Y holds f64; this product needs f32");
  wrong = x;
  wrong.leading_dim = 2;
  EXPECT_EQ(refusal(wrong, x, c), "X has a leading dimension below its columns");
  wrong.leading_dim = 4;
  EXPECT_NE(refusal(wrong, x, c), "");
  EXPECT_EQ(refusal(wrong, x, c, kF32 | kLeadingDimension), "");
  wrong = x;
  wrong.space = MemorySpace::device;
  EXPECT_EQ(refusal(x, wrong, c), "");
  wrong.data = data + 1;
  EXPECT_NE(refusal(x, wrong, c), "") << "it does not begin on a vector";
  EXPECT_EQ(refusal(x, wrong, c, kF32 | kAnyAlignment), "");
  ConstValuesView short_c = c;
  short_c.size = 0;
  EXPECT_EQ(refusal(x, x, short_c),
            "C has 0 elements; this product needs 1, one for each entry of A");
  short_c = c;
  short_c.kind = ValueKind::f16;
  EXPECT_EQ(refusal(x, x, short_c), "C holds f16; this product needs f32");
}

}  // namespace
}  // namespace csrkit
