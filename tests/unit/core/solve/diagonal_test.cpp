#include "core/solve/diagonal.h"

#include <gtest/gtest.h>

#include "tests/unit/cpu/solve/systems.h"

namespace csrkit {
namespace {

SolveProblem problem_with(const CsrMatrix& a, const RowBlocks& blocks) {
  SolveProblem problem;
  problem.a = a;
  problem.preconditioner = {PreconditionerKind::block_jacobi, blocks, 0};
  return problem;
}

TEST(Diagonal, IsInverted) {
  SolveProblem problem = problem_with(grid_laplacian(3, 2), {});
  EXPECT_EQ(inverse_diagonal(problem), std::vector<double>(6, 0.25));
  EXPECT_EQ(scaled_row_sum_bound(problem), 1.75);
  problem.dense = densified(problem.a, ValueKind::f32);
  EXPECT_EQ(inverse_diagonal(problem), std::vector<double>(6, 0.25));
  EXPECT_EQ(scaled_row_sum_bound(problem), 1.75);
}

TEST(Diagonal, ARowWithoutItIsNamed) {
  const SolveProblem problem = problem_with(
      matrix_of(3, [](Index i, Index j) { return i == j ? (i == 1 ? 0.0 : 1.0) : 0.0; }), {});
  try {
    inverse_diagonal(problem);
    FAIL();
  } catch (const VerifyError& error) {
    EXPECT_NE(std::string(error.what()).find("row 1"), std::string::npos);
  }
}

TEST(Diagonal, BlocksTimesTheirInversesAreOne) {
  const CsrMatrix a = badly_scaled(23, 100);
  const SolveProblem problem = problem_with(a, uniform_blocks(23, 5));
  const InverseBlocks blocks = inverse_blocks(problem, 2);
  ASSERT_EQ(blocks.blocks(), 5);
  const auto dense = densified(a, ValueKind::f64);
  const ConstDenseView view = std::as_const(*dense).view();
  for (Index block = 0; block < 5; ++block) {
    const auto at = static_cast<std::size_t>(block);
    const Index size = blocks.size_of_block(block);
    const Index* rows = blocks.rows.data() + blocks.row_begins[at];
    const double* inverse = blocks.values.data() + blocks.value_begins[at];
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) {
        double sum = 0;
        for (Index k = 0; k < size; ++k) sum += inverse[i * size + k] * view.at(rows[k], rows[j]);
        EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-12);
        EXPECT_EQ(inverse[i * size + j], inverse[j * size + i]);
      }
    }
  }
}

TEST(Diagonal, TheFirstIndefiniteBlockIsNamed) {
  const SolveProblem problem = problem_with(
      matrix_of(
          8, [](Index i, Index j) { return i == j                     ? 1.0
                                           : i / 2 == j / 2 && i >= 4 ? 2.0
                                                                      : 0.0; }),
      uniform_blocks(8, 2));
  try {
    inverse_blocks(problem, 3);
    FAIL();
  } catch (const VerifyError& error) {
    EXPECT_NE(std::string(error.what()).find("block 2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace csrkit
