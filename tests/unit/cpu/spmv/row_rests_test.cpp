#include "cpu/spmv/row_rests.h"

#include <gtest/gtest.h>

namespace csrkit::cpu::spmv {
namespace {

RowRests rests_of(const std::vector<Offset>& lengths) {
  RowRests rests;
  rests.lengths = lengths;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    rests.begins.push_back(row == 0 ? 0 : rests.begins.back() + lengths[row - 1]);
  }
  return rests;
}

TEST(RowRests, PiecesHoldEveryEntryOnceAndTheirLengthsFall) {
  const RowRests rests = rests_of({3, 0, 64, 65, 3, 128, 10000, 1});
  const std::vector<RowPiece> pieces = sorted_pieces(rests);
  std::vector<int> seen(static_cast<std::size_t>(rests.begins.back() + rests.lengths.back()));
  std::vector<Offset> of_row(rests.lengths.size());
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const RowPiece& piece = pieces[n];
    ++of_row[static_cast<std::size_t>(piece.row)];
    for (Offset k = 0; k < piece.length; ++k) ++seen[static_cast<std::size_t>(piece.begin + k)];
    EXPECT_GT(piece.length, 0);
    if (n == 0) continue;
    const RowPiece& before = pieces[n - 1];
    EXPECT_GE(before.length, piece.length);
    EXPECT_TRUE(before.length > piece.length || before.row <= piece.row);
  }
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  EXPECT_EQ(of_row, (std::vector<Offset>{1, 0, 1, 2, 1, 2, kMostPiecesOfRow, 1}));
}

TEST(RowRests, NothingHasNoPieces) {
  EXPECT_TRUE(sorted_pieces(rests_of({})).empty());
  EXPECT_TRUE(sorted_pieces(rests_of({0, 0})).empty());
}

}  // namespace
}  // namespace csrkit::cpu::spmv
