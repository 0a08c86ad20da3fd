#include <gtest/gtest.h>
#include <omp.h>

#include "core/base/hash.h"
#include "preprocess/transform/transform.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

TEST(Symmetrize, MirrorsWhatIsMissingAndKeepsWhatIsThere) {
  // a_01 = 2 has no partner; a_02 = 3 and a_20 = 4 differ and both stay; a_11 is not doubled.
  const std::vector<double> directed = {0, 2, 3, 0, 5, 0, 4, 0, 0};
  const std::vector<double> expected = {0, 2, 3, 2, 5, 0, 4, 0, 0};
  for (const ValueKind kind : kAllValueKinds) {
    const CsrMatrix result = symmetrize(matrix_of(3, 3, directed, kind));
    validate(result, name_of(kind));
    EXPECT_EQ(result.value_kind(), kind);
    EXPECT_EQ(dense_of(result), as_kind(expected, kind)) << name_of(kind);
  }
}

TEST(Symmetrize, LeavesASymmetricMatrixAlone) {
  const CsrMatrix a = matrix_of(3, 3, {1, 2, 0, 2, 0, 3, 0, 3, 0}, ValueKind::f64);
  EXPECT_TRUE(identical(symmetrize(a), a));
}

TEST(Symmetrize, RefusesRectangular) {
  EXPECT_THROW(symmetrize(matrix_of(1, 2, {1, 1}, ValueKind::f32)), UsageError);
}

TEST(Symmetrize, TakesEmptyMatrices) {
  EXPECT_EQ(symmetrize(CsrMatrix()).rows(), 0);
  EXPECT_EQ(symmetrize(matrix_of(2, 2, {0, 0, 0, 0}, ValueKind::f16)).nnz(), 0);
}

TEST(Symmetrize, GivesTheSameBitsForAnyThreadCountAndIsSymmetric) {
  std::vector<double> dense(97 * 97);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (below(random_word(1, i), 10) == 0) dense[i] = random_value(2, i);
  }
  const CsrMatrix a = matrix_of(97, 97, dense, ValueKind::f32);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const CsrMatrix one = symmetrize(a);
  omp_set_num_threads(5);
  const CsrMatrix five = symmetrize(a);
  omp_set_num_threads(threads);
  EXPECT_TRUE(identical(one, five));
  EXPECT_TRUE(identical(convert_values(one, ValueKind::none),
                        convert_values(transpose(one), ValueKind::none)));
}

}  // namespace
}  // namespace csrkit
