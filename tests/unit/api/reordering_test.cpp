#include "api/reordering.h"

#include <gtest/gtest.h>

#include "preprocess/generate/generate.h"

namespace csrkit {
namespace {

CsrFile file_of(const char* rows, const char* cols) {
  GenerateOptions options;
  options.pattern = "erdos-renyi";
  options.parameters = {{"rows", rows}, {"cols", cols}, {"nnz", "300"}};
  return {generate_matrix(options), {}, {}, {}, {}, ""};
}

TEST(Reordering, TwoOrdersAreOneOnTheWayBack) {
  const CsrFile file = file_of("60", "60");
  for (const Sides sides : {Sides::rows, Sides::cols, Sides::both}) {
    ReorderOptions options;
    const CsrFile once = reordered(file, "random", sides, options);
    options.seed = 7;
    const CsrFile twice = reordered(once, "random", Sides::both, options);
    EXPECT_FALSE(identical(twice.matrix, file.matrix));
    EXPECT_TRUE(identical(restored(twice).matrix, file.matrix));
  }
}

TEST(Reordering, APartitionMovesWithItsRows) {
  CsrFile file = file_of("50", "20");
  Buffer<Index> part_of_row(50);
  // Every part is told by the row's length, so that it can be recognised after the move.
  for (Index row = 0; row < 50; ++row) {
    part_of_row[row] = static_cast<Index>(file.matrix.row_length(row));
  }
  file.partition = Partition{21, std::make_shared<const Buffer<Index>>(std::move(part_of_row))};
  const CsrFile moved = reordered(file, "degree", Sides::rows, {});
  for (Index row = 0; row < 50; ++row) {
    EXPECT_EQ((*moved.partition->part_of_row)[row], moved.matrix.row_length(row));
  }
  const CsrFile back = restored(moved);
  for (Index row = 0; row < 50; ++row) {
    EXPECT_EQ((*back.partition->part_of_row)[row], back.matrix.row_length(row));
  }
}

TEST(Reordering, PartsForRanksAreThoseOfOneOrder) {
  CsrFile file = file_of("50", "50");
  file.ranks = RankSections::of(file.matrix, plain_blocks(file.matrix, {2, 4}));
  const CsrFile moved = reordered(file, "random", Sides::both, {});
  EXPECT_FALSE(moved.ranks.has_value());
  CsrFile again = moved;
  again.ranks = RankSections::of(moved.matrix, plain_blocks(moved.matrix, {2}));
  EXPECT_FALSE(restored(again).ranks.has_value());
}

TEST(Reordering, SidesOfARectangularMatrix) {
  const CsrMatrix wide = file_of("10", "40").matrix;
  EXPECT_EQ(sides_of("", wide), Sides::rows);
  EXPECT_EQ(sides_of("", file_of("20", "20").matrix), Sides::both);
  EXPECT_EQ(sides_of("both", wide), Sides::both);
  EXPECT_THROW(restored(file_of("10", "40")), UsageError);
}

TEST(Reordering, BothSidesOfARectangularMatrixComeBack) {
  const CsrFile file = file_of("50", "20");
  for (const char* method : {"degree", "rcm", "community", "random"}) {
    SCOPED_TRACE(method);
    const CsrFile moved = reordered(file, method, Sides::both, {});
    EXPECT_EQ(moved.row_order->size(), 50);
    EXPECT_EQ(moved.col_order->size(), 20);
    EXPECT_TRUE(identical(restored(moved).matrix, file.matrix));
  }
}

TEST(Reordering, OrdersComposeAndUndoAtOnce) {
  const CsrFile file = file_of("60", "60");
  ReorderOptions options;
  options.parameters["descending"] = "yes";
  const std::vector<std::string> methods{"random", "rcm", "degree"};
  const CsrFile chained = reordered(file, methods, Sides::both, options);
  options.parameters.clear();
  CsrFile one_by_one =
      reordered(reordered(file, "random", Sides::both, options), "rcm", Sides::both, options);
  options.parameters["descending"] = "yes";
  one_by_one = reordered(one_by_one, "degree", Sides::both, options);
  EXPECT_TRUE(identical(chained.matrix, one_by_one.matrix));
  EXPECT_TRUE(identical(permute_both(file.matrix, *chained.row_order), chained.matrix));
  EXPECT_TRUE(identical(restored(chained).matrix, file.matrix));
  EXPECT_THROW(reordered(file, std::vector<std::string>{"random", "rcm"}, Sides::both, options),
               UsageError);
  EXPECT_THROW(reordered(file, std::vector<std::string>{"random", "no-such"}, Sides::both, {}),
               UsageError);
}

TEST(Reordering, OperandsFollowTheirSide) {
  CsrFile file = file_of("30", "30");
  file = reordered(reordered(file, "random", Sides::rows, {}), "degree", Sides::cols, {});
  DenseMatrix operand(30, 2, ValueKind::f32);
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < 2; ++j) operand.view().set(i, j, 2 * i + j);
  }
  for (const char* side : {"rows", "cols"}) {
    const Permutation& order = *(side == std::string("rows") ? file.row_order : file.col_order);
    const DenseMatrix moved = operand_moved(operand, file, side, false);
    for (Index i = 0; i < 30; ++i) {
      EXPECT_EQ(moved.view().at(order.new_of_old()[i], 1), 2 * i + 1);
    }
    const DenseMatrix back = operand_moved(moved, file, side, true);
    for (Index i = 0; i < 30; ++i) EXPECT_EQ(back.view().at(i, 0), 2 * i);
  }
  EXPECT_THROW(operand_moved(operand, file, "", false), UsageError);  // which of the two?
  EXPECT_THROW(operand_moved(DenseMatrix(29, 2, ValueKind::f32), file, "rows", false), UsageError);
  EXPECT_THROW(operand_moved(operand, file_of("30", "30"), "rows", false), UsageError);
  const CsrFile wide = reordered(file_of("30", "12"), "random", Sides::both, {});
  EXPECT_NO_THROW(operand_moved(operand, wide, "", false));
  EXPECT_NO_THROW(operand_moved(DenseMatrix(12, 1, ValueKind::f64), wide, "", true));
  EXPECT_THROW(operand_moved(operand, wide, "cols", false), UsageError);
}

}  // namespace
}  // namespace csrkit
