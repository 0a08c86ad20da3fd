#include "cpu/common/row_cuts.h"

#include <algorithm>

namespace csrkit::cpu {

namespace {

/// The entries of one hub, a task per stretch.
void cut_hub(const CsrMatrix& a, Index row, Offset size, RowCuts* cuts) {
  const Offset end = a.row_offsets()[row + 1];
  const Offset first_stretch = cuts->stretches;
  for (Offset begin = a.row_offsets()[row]; begin < end; begin += size) {
    cuts->tasks.push_back({begin, std::min(begin + size, end), cuts->stretches++});
  }
  cuts->hubs.push_back({row, first_stretch, cuts->stretches - first_stretch});
}

}  // namespace

RowCuts cut_rows(const CsrMatrix& a, const PieceSizes& sizes) {
  const Index rows = a.rows(), step = sizes.rows_at_once;
  const Index units = rows / step + (rows % step != 0);
  const auto row_of = [&](Index unit) {
    return static_cast<Index>(std::min<Offset>(Offset{unit} * step, rows));
  };
  const Offset* offsets = a.row_offsets();
  const Offset work = a.nnz() + rows;
  const Offset least = std::clamp(work / sizes.fewest_pieces, sizes.smallest, sizes.usual);
  const Offset size = std::clamp(work / sizes.pieces_wanted, least, sizes.largest);
  RowCuts cuts;
  cuts.hub_length = 2 * size;
  Offset piece = size;
  if (sizes.shares > 0) {
    const Offset of_each = std::max<Offset>(1, (work / sizes.shares + size / 2) / size);
    piece = std::max<Offset>(1, (work + sizes.shares * of_each - 1) / (sizes.shares * of_each));
  }
  Index start = 0;
  for (Offset goal = piece; start < units; goal += piece) {
    // The first unit that begins at or after the goal, counting nonzeros and rows.
    Index low = start, high = units;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (offsets[row_of(middle)] + row_of(middle) >= goal) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (low == start) continue;  // inside a long unit
    // Only the last unit before the goal can reach over two goals.
    const Index last = low - 1;
    std::vector<Index> hubs;
    for (Index row = row_of(last); row < row_of(low); ++row) {
      if (a.row_length(row) > cuts.hub_length) hubs.push_back(row);
    }
    const Index whole = !hubs.empty() && step == 1 ? last : low;
    if (start < whole)
      cuts.tasks.push_back({row_of(start), row_of(whole), -1, !hubs.empty() && step > 1});
    for (const Index row : hubs) cut_hub(a, row, size, &cuts);
    start = low;
  }
  return cuts;
}

std::uint64_t row_cuts_bytes(const CsrMatrix& a, const PieceSizes& sizes) {
  // At most one task per smallest piece of work, and one more where a hub begins.
  const auto work = static_cast<std::uint64_t>(a.nnz() + a.rows());
  const std::uint64_t pieces = std::min(work / static_cast<std::uint64_t>(sizes.smallest) + 1,
                                        static_cast<std::uint64_t>(sizes.pieces_wanted) +
                                            work / static_cast<std::uint64_t>(sizes.largest) + 2) +
                               2 * static_cast<std::uint64_t>(sizes.shares);
  return 2 * pieces * (2 * sizeof(Task) + sizeof(Hub));
}

}  // namespace csrkit::cpu
