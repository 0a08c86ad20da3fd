#include "tools/support/reordering.h"

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

TEST(Reordering, SidesOfARectangularMatrix) {
  const CsrMatrix wide = file_of("10", "40").matrix;
  EXPECT_EQ(sides_of("", wide), Sides::rows);
  EXPECT_EQ(sides_of("", file_of("20", "20").matrix), Sides::both);
  EXPECT_THROW(sides_of("both", wide), UsageError);
  EXPECT_THROW(restored(file_of("10", "40")), UsageError);
}

}  // namespace
}  // namespace csrkit
