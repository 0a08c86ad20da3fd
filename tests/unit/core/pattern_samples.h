// Small patterns for the tests of what looks at a pattern alone.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// From one ascending list, or set, of columns per row.
template <class Row = std::vector<Index>>
CsrMatrix pattern_of(Index cols, const std::vector<Row>& rows) {
  Buffer<Offset> row_offsets(static_cast<Offset>(rows.size()) + 1);
  row_offsets[0] = 0;
  std::vector<Index> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.insert(all.end(), rows[i].begin(), rows[i].end());
    row_offsets[static_cast<Offset>(i) + 1] = static_cast<Offset>(all.size());
  }
  return CsrMatrix(static_cast<Index>(rows.size()), cols, std::move(row_offsets),
                   Buffer<Index>::copy_of(all.data(), static_cast<Offset>(all.size())),
                   ValueArray());
}

/// `length` different columns in every row, each in its own part of the columns.
inline CsrMatrix random_pattern(Index rows, Index cols, Index length, std::uint64_t seed) {
  std::vector<std::vector<Index>> lists(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row) {
    for (Index k = 0; k < length; ++k) {
      const double u = unit_of(
          random_word(seed, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(k)));
      lists[static_cast<std::size_t>(row)].push_back(
          std::min(cols - 1, static_cast<Index>((k + u) * cols / length)));
    }
  }
  return pattern_of(cols, lists);
}

/// Each hunts a mistake: nothing at all, empty rows at both ends, a row and a column of everything,
/// reads in circles just above and below a capacity, the same row again and again, both shapes.
inline std::vector<std::pair<std::string, CsrMatrix>> pattern_battery() {
  std::vector<std::pair<std::string, CsrMatrix>> all;
  const auto add = [&](const char* name, CsrMatrix a) { all.emplace_back(name, std::move(a)); };
  add("0 x 0", CsrMatrix());
  add("no columns", pattern_of(0, {{}, {}}));
  add("empty rows", pattern_of(9, {{}, {}, {}}));
  add("1 x 1", pattern_of(1, {{0}}));
  add("last column, between empty rows", pattern_of(70, {{}, {69}, {}}));
  std::vector<std::vector<Index>> rows(200);
  for (Index i = 0; i < 200; ++i) rows[static_cast<std::size_t>(i)] = {i};
  add("diagonal", pattern_of(200, rows));
  for (Index i = 0; i < 200; ++i) rows[static_cast<std::size_t>(i)] = {i % 17};
  add("in circles of 17", pattern_of(40, rows));
  for (Index i = 0; i < 200; ++i) rows[static_cast<std::size_t>(i)] = {199 - i};
  add("against the diagonal", pattern_of(200, rows));
  for (Index i = 0; i < 200; ++i)
    rows[static_cast<std::size_t>(i)] = {i % 2 == 0 ? i / 2 % 31 : 7 + i % 25};
  add("two circles", pattern_of(40, rows));
  for (Index i = 0; i < 200; ++i) rows[static_cast<std::size_t>(i)] = {0, 1 + i % 90};
  rows[100].clear();
  for (Index col = 0; col < 130; ++col) rows[100].push_back(col);
  add("one column in every row, one row of every column", pattern_of(130, rows));
  for (Index i = 0; i < 200; ++i) {
    std::vector<Index>& row = rows[static_cast<std::size_t>(i)];
    row.clear();
    for (Index col = std::max(0, i - 1); col <= std::min(199, i + 1); ++col) row.push_back(col);
  }
  add("tridiagonal", pattern_of(200, rows));
  add("random, wide", random_pattern(65, 700, 9, 1));
  add("random, tall", random_pattern(513, 31, 5, 2));
  add("random, square", random_pattern(300, 300, 12, 3));
  return all;
}

}  // namespace csrkit
