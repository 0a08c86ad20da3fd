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

}  // namespace
}  // namespace csrkit
