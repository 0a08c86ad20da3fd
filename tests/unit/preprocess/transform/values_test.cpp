#include <gtest/gtest.h>

#include <set>

#include "core/base/hash.h"
#include "preprocess/transform/transform.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

TEST(RandomizeValues, DependsOnSeedRowAndColumnOnly) {
  const CsrMatrix full = matrix_of(2, 3, {1, 1, 1, 1, 1, 1}, ValueKind::f64);
  const CsrMatrix sparse = matrix_of(2, 3, {0, 5, 0, 0, 0, 7}, ValueKind::f64);
  const std::vector<double> of_full = dense_of(randomize_values(full, 3));
  const std::vector<double> of_sparse = dense_of(randomize_values(sparse, 3));
  EXPECT_EQ(of_sparse[1], of_full[1]);
  EXPECT_EQ(of_sparse[5], of_full[5]);
  EXPECT_EQ(of_full[5], random_value(3, 1, 2));
  EXPECT_NE(of_full, dense_of(randomize_values(full, 4)));
  EXPECT_EQ(std::set<double>(of_full.begin(), of_full.end()).size(), 6u);
}

TEST(RandomizeValues, StaysBelowOneInEveryKind) {
  const CsrMatrix wide = matrix_of(100, 400, std::vector<double>(40000, 1), ValueKind::f64);
  for (const ValueKind kind : kAllValueKinds) {
    const CsrMatrix result = randomize_values(convert_values(wide, kind), 1);
    EXPECT_EQ(result.value_kind(), kind == ValueKind::none ? ValueKind::f32 : kind);
    double smallest = 1, largest = -1;
    for (const double value : dense_of(result)) {
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
    }
    EXPECT_GE(smallest, -1) << name_of(kind);
    EXPECT_LT(largest, 1) << name_of(kind);
    EXPECT_LT(smallest, -0.98) << name_of(kind);
    EXPECT_GT(largest, 0.98) << name_of(kind);
  }
}

TEST(RandomizeValues, OutlivesItsInput) {
  CsrMatrix result;
  {
    const CsrMatrix a = matrix_of(2, 2, {1, 0, 0, 1}, ValueKind::f32);
    result = randomize_values(a, 1);
  }
  validate(result, "result");
  EXPECT_EQ(result.nnz(), 2);
}

TEST(SetOnes, KeepsTheKind) {
  for (const ValueKind kind : kAllValueKinds) {
    const CsrMatrix result = set_ones(matrix_of(2, 2, {3, 0, -2, 5}, kind));
    EXPECT_EQ(result.value_kind(), kind);
    EXPECT_EQ(dense_of(result), (std::vector<double>{1, 0, 1, 1}));
  }
  EXPECT_EQ(set_ones(CsrMatrix()).nnz(), 0);
}

}  // namespace
}  // namespace csrkit
