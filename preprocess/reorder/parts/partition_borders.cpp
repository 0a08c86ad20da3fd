#include "preprocess/reorder/parts/partition_borders.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "core/base/team_errors.h"

namespace csrkit {

namespace {

/// Rows listed by part: those of part p are [begin[p], begin[p + 1]).
struct RowsByPart {
  Buffer<Index> begin, row;
};

RowsByPart rows_by_part(const Partition& partition) {
  const Buffer<Index>& part = *partition.part_of_row;
  RowsByPart result{Buffer<Index>(Offset{partition.parts} + 1), Buffer<Index>(part.size())};
  std::fill(result.begin.begin(), result.begin.end(), Index{0});
  for (const Index p : part) ++result.begin[p + 1];
  for (Index p = 0; p < partition.parts; ++p) result.begin[p + 1] += result.begin[p];
  Buffer<Index> next = Buffer<Index>::copy_of(result.begin.data(), partition.parts);
  for (Offset row = 0; row < part.size(); ++row) {
    result.row[next[part[row]]++] = static_cast<Index>(row);
  }
  return result;
}

}  // namespace

Buffer<Offset> partition_borders(const CsrMatrix& matrix, const Partition& partition) {
  assert(matrix.rows() == matrix.cols() && partition.part_of_row->size() == matrix.rows());
  const Buffer<Index>& part_of = *partition.part_of_row;
  const RowsByPart rows = rows_by_part(partition);
  Buffer<Offset> borders(Offset{partition.parts} + 1);
  Offset cut = 0;
  TeamErrors errors;
#pragma omp parallel reduction(+ : cut)
  {
    std::vector<Index> foreign;
#pragma omp for schedule(dynamic, 1)
    for (Index part = 0; part < partition.parts; ++part) {
      errors.guard([&] {
        foreign.clear();
        for (Index at = rows.begin[part]; at < rows.begin[part + 1]; ++at) {
          const Index row = rows.row[at];
          for (Offset e = matrix.row_offsets()[row]; e < matrix.row_offsets()[row + 1]; ++e) {
            const Index col = matrix.col_indices()[e];
            if (part_of[col] != part) foreign.push_back(col);
          }
        }
        cut += static_cast<Offset>(foreign.size());
        std::sort(foreign.begin(), foreign.end());
        borders[Offset{part} + 1] = std::unique(foreign.begin(), foreign.end()) - foreign.begin();
      });
    }
  }
  errors.rethrow();
  borders[0] = cut;
  return borders;
}

double partition_modularity(const CsrMatrix& matrix, const Partition& partition) {
  const Buffer<Index>& part_of = *partition.part_of_row;
  std::vector<Offset> ends(static_cast<std::size_t>(partition.parts), 0);
  Offset within = 0, entries = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset e = matrix.row_offsets()[row]; e < matrix.row_offsets()[row + 1]; ++e) {
      const Index col = matrix.col_indices()[e];
      if (col == row) continue;
      ++entries;
      within += part_of[row] == part_of[col];
      ++ends[static_cast<std::size_t>(part_of[row])];
      ++ends[static_cast<std::size_t>(part_of[col])];
    }
  }
  if (entries == 0) return 0;
  double expected = 0;
  for (const Offset count : ends) {
    const double share = static_cast<double>(count) / (2.0 * static_cast<double>(entries));
    expected += share * share;
  }
  return static_cast<double>(within) / static_cast<double>(entries) - expected;
}

double partition_balance(const Partition& partition) {
  const Offset rows = partition.part_of_row->size();
  if (rows == 0) return 0;
  // More parts than rows: only the parts in use are counted, of which there are at most rows.
  std::vector<Index> used(partition.part_of_row->begin(), partition.part_of_row->end());
  std::sort(used.begin(), used.end());
  Offset largest = 0;
  for (auto from = used.begin(); from != used.end();) {
    const auto to = std::upper_bound(from, used.end(), *from);
    largest = std::max<Offset>(largest, to - from);
    from = to;
  }
  return static_cast<double>(largest) * partition.parts / static_cast<double>(rows);
}

}  // namespace csrkit
