#include <gtest/gtest.h>

#include "preprocess/transform/transform.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

TEST(AddSelfLoops, FillsTheDiagonalAndKeepsWhatIsStored) {
  const std::vector<double> before = {0, 2, 0, 0, 7, 0, 3, 4, 0};
  const std::vector<double> after = {1, 2, 0, 0, 7, 0, 3, 4, 1};
  for (const ValueKind kind : kAllValueKinds) {
    const CsrMatrix result = add_self_loops(matrix_of(3, 3, before, kind));
    validate(result, name_of(kind));
    EXPECT_EQ(result.value_kind(), kind);
    EXPECT_EQ(dense_of(result), as_kind(after, kind)) << name_of(kind);
  }
}

TEST(AddSelfLoops, FillsAMatrixWithoutEntries) {
  const CsrMatrix result = add_self_loops(matrix_of(2, 2, {0, 0, 0, 0}, ValueKind::f32));
  EXPECT_EQ(dense_of(result), (std::vector<double>{1, 0, 0, 1}));
}

TEST(AddSelfLoops, RefusesRectangularAndTakesEmpty) {
  EXPECT_THROW(add_self_loops(matrix_of(2, 1, {1, 1}, ValueKind::none)), UsageError);
  EXPECT_EQ(add_self_loops(CsrMatrix()).nnz(), 0);
}

TEST(DropSelfLoops, RemovesTheDiagonalOnly) {
  const std::vector<double> before = {1, 2, 0, 0, 0, 5, 3, 4, 9};
  const std::vector<double> after = {0, 2, 0, 0, 0, 5, 3, 4, 0};
  for (const ValueKind kind : kAllValueKinds) {
    const CsrMatrix result = drop_self_loops(matrix_of(3, 3, before, kind));
    validate(result, name_of(kind));
    EXPECT_EQ(dense_of(result), as_kind(after, kind)) << name_of(kind);
  }
}

TEST(DropSelfLoops, TakesAnyShape) {
  const CsrMatrix wide = matrix_of(2, 3, {1, 0, 2, 0, 3, 4}, ValueKind::f64);
  EXPECT_EQ(dense_of(drop_self_loops(wide)), (std::vector<double>{0, 0, 2, 0, 0, 4}));
  const CsrMatrix tall = matrix_of(3, 1, {1, 2, 3}, ValueKind::f64);
  EXPECT_EQ(dense_of(drop_self_loops(tall)), (std::vector<double>{0, 2, 3}));
}

}  // namespace
}  // namespace csrkit
