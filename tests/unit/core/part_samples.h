// Matrices and borders on which partitions for ranks go wrong, if they do: empty rows and parts,
// hubs, rectangles, words of bits that end inside a part.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/file/rank_sections.h"
#include "core/matrix/split_rows.h"
#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {

inline CsrMatrix hub_sample(Index size) {  // a full row, a full column, the diagonal
  std::vector<Offset> offsets{0};
  std::vector<Index> cols;
  for (Index row = 0; row < size; ++row) {
    for (Index col = 0; col < size; ++col) {
      if (row == size / 3 || col == size / 2 || row == col) cols.push_back(col);
    }
    offsets.push_back(static_cast<Offset>(cols.size()));
  }
  return make_csr(size, size, offsets, cols, std::vector<double>(cols.size(), 2), ValueKind::f64);
}

inline std::vector<std::pair<std::string, CsrMatrix>> part_samples() {
  return {{"empty", make_csr(0, 0, {0}, {}, {}, ValueKind::f32)},
          {"no rows", make_csr(0, 5, {0}, {}, {}, ValueKind::f32)},
          {"no columns", make_csr(7, 0, {0, 0, 0, 0, 0, 0, 0, 0}, {}, {}, ValueKind::f32)},
          {"one entry", make_csr(1, 1, {0, 1}, {0}, {3}, ValueKind::f16)},
          {"no entries", random_csr(70, 70, 0, ValueKind::f32)},
          {"five by seven", five_by_seven(ValueKind::bf16)},
          {"square", random_csr(300, 300, 7, ValueKind::f32, 2)},
          {"wide", random_csr(90, 1000, 11, ValueKind::f64, 3)},
          {"tall", random_csr(1000, 65, 3, ValueKind::none, 4)},
          {"big enough for threads", random_csr(20000, 20000, 12, ValueKind::none, 5)},
          {"hub", hub_sample(200)}};
}

/// Borders anywhere, many of them in the same place.
inline PartBorders random_borders(const CsrMatrix& matrix, Index parts, std::uint64_t seed) {
  const auto draw = [&](Index count, std::uint64_t salt) {
    RandomStream random(seed, salt);
    std::vector<Index> borders{0, count};
    while (static_cast<Index>(borders.size()) <= parts) {
      const auto at = static_cast<Index>(random.below(static_cast<std::uint64_t>(count) + 1));
      for (std::uint64_t times = 1 + random.below(2);
           times > 0 && static_cast<Index>(borders.size()) <= parts; --times) {
        borders.push_back(at);
      }
    }
    std::sort(borders.begin(), borders.end());
    return borders;
  };
  PartBorders borders;
  borders.rows = draw(matrix.rows(), 1);
  borders.cols = matrix.rows() == matrix.cols() ? borders.rows : draw(matrix.cols(), 2);
  return borders;
}

/// A part of a matrix in memory.
inline RankPart part_of_matrix(const CsrMatrix& matrix, PartLists lists, const std::string& where,
                               int threads = 0, PartColumns columns = PartColumns::local) {
  const auto entries = [&](Offset first, Offset) {
    const auto width = static_cast<Offset>(size_of(matrix.value_kind()));
    const auto* const values = static_cast<const char*>(matrix.values());
    return EntryRun{matrix.col_indices() + first, width == 0 ? nullptr : values + first * width};
  };
  const Offset* const row_offsets = matrix.row_offsets() + lists.head.row_begin;
  return gather_part(row_offsets, matrix.value_kind(), entries, std::move(lists), matrix.cols(),
                     where, threads, columns);
}

}  // namespace csrkit
