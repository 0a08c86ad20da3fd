#include "cpu/spmv/row_rests.h"

#include <algorithm>

namespace csrkit::cpu::spmv {

std::vector<RowPiece> sorted_pieces(const RowRests& rests) {
  const auto for_pieces = [&](const auto& visit) {
    for (std::size_t row = 0; row < rests.lengths.size(); ++row) {
      const Offset length = rests.lengths[row];
      const Offset count = std::min((length + kPieceEntries - 1) / kPieceEntries, kMostPiecesOfRow);
      for (Offset n = 0; n < count; ++n) {
        const Offset begin = length * n / count, end = length * (n + 1) / count;
        visit(RowPiece{static_cast<Index>(row), rests.begins[row] + begin, end - begin});
      }
    }
  };
  Offset longest = 0;
  for_pieces([&](const RowPiece& piece) { longest = std::max(longest, piece.length); });
  // Of the next one of each length, from long to short.
  std::vector<std::size_t> places(static_cast<std::size_t>(longest) + 2);
  const auto rank = [&](const RowPiece& piece) {
    return static_cast<std::size_t>(longest - piece.length);
  };
  for_pieces([&](const RowPiece& piece) { ++places[rank(piece) + 1]; });
  for (std::size_t n = 1; n < places.size(); ++n) places[n] += places[n - 1];
  std::vector<RowPiece> sorted(places.back());
  for_pieces([&](const RowPiece& piece) { sorted[places[rank(piece)]++] = piece; });
  return sorted;
}

}  // namespace csrkit::cpu::spmv
