// The adversarial matrices on which kernels of every operation are tested, and what makes them.
// Each is named after the bug it hunts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::testing {

/// One stored entry, for matrices that are easier to write down than to compute.
struct Entry {
  Index row;
  Index col;
  double value;
};

/// A matrix from entries in any order; (row, col) must not repeat.
inline CsrMatrix matrix_of(Index rows, Index cols, std::vector<Entry> entries,
                           ValueKind kind = ValueKind::f64) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  });
  const auto nnz = static_cast<Offset>(entries.size());
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  Buffer<Index> col_indices(nnz);
  Buffer<double> values(nnz);
  std::fill(row_offsets.begin(), row_offsets.end(), Offset{0});
  for (const Entry& entry : entries) ++row_offsets[entry.row + 1];
  for (Index row = 0; row < rows; ++row) row_offsets[row + 1] += row_offsets[row];
  for (Offset at = 0; at < nnz; ++at) {
    col_indices[at] = entries[static_cast<std::size_t>(at)].col;
    values[at] = entries[static_cast<std::size_t>(at)].value;
  }
  return convert_values(CsrMatrix(rows, cols, std::move(row_offsets), std::move(col_indices),
                                  ValueArray::from(std::move(values))),
                        kind);
}

/// A matrix with random values whose row `i` has the columns for which `keep(i, j)` holds.
inline CsrMatrix matrix_where(Index rows, Index cols, const std::function<bool(Index, Index)>& keep,
                              std::uint64_t seed = 7) {
  std::vector<Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (keep(i, j)) entries.push_back({i, j, random_value(seed, i, j)});
    }
  }
  return matrix_of(rows, cols, std::move(entries));
}

inline CsrMatrix random_matrix(Index rows, Index cols, double density, std::uint64_t seed = 7) {
  return matrix_where(
      rows, cols, [&](Index i, Index j) { return unit_of(random_word(seed + 1, i, j)) < density; },
      seed);
}

inline CsrMatrix identity_matrix(Index size, ValueKind kind) {
  std::vector<Entry> entries;
  for (Index i = 0; i < size; ++i) entries.push_back({i, i, 1.0});
  return matrix_of(size, size, std::move(entries), kind);
}

struct BatteryMatrix {
  const char* name;     // the bug it hunts
  CsrMatrix (*make)();  // in f64; convert_values gives the other kinds
};

/// Rows of 700 entries down to 3, columns anywhere.
inline CsrMatrix power_law_matrix() {
  std::vector<Entry> entries;
  for (Index i = 0; i < 700; ++i) {
    const Index length = std::min<Index>(700, 1 + 1400 / (i + 1));
    for (Index k = 0; k < length; ++k) {
      const Index j = static_cast<Index>((Offset{k} * 389 + Offset{i} * 31) % 701);
      entries.push_back({i, j, random_value(3, i, j)});
    }
  }
  return matrix_of(700, 701, std::move(entries));
}

/// Every entry is 0 or -0.
inline CsrMatrix matrix_of_zeros() {
  std::vector<Entry> entries;
  for (Index i = 0; i < 50; ++i) {
    for (Index j = i % 3; j < 50; j += 3) entries.push_back({i, j, j % 2 == 0 ? 0.0 : -0.0});
  }
  return matrix_of(50, 50, std::move(entries));
}

/// Values of 2^-30 to 2^29, about.
inline CsrMatrix matrix_of_every_size() {
  std::vector<Entry> entries;
  for (Index i = 0; i < 60; ++i) {
    for (Index j = i % 2; j < 60; j += 2) {
      entries.push_back({i, j, std::ldexp(random_value(6, i, j), (i * 7 + j * 11) % 60 - 30)});
    }
  }
  return matrix_of(60, 60, std::move(entries));
}

/// A product may leave the range of 16-bit results, and of f32 for the last rows.
inline CsrMatrix overflowing_matrix() {
  std::vector<Entry> entries;
  for (Index i = 0; i < 24; ++i) {
    for (Index j = 0; j < 24; ++j) {
      entries.push_back({i, j, random_value(9, i, j) * (i < 12 ? 30000.0 : 3e38)});
    }
  }
  return matrix_of(24, 24, std::move(entries));
}

inline CsrMatrix matrix_with_nan_and_infinities() {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<Entry> entries;
  for (Index i = 0; i < 64; ++i) {
    for (Index j = i % 4; j < 64; j += 4) {
      double value = random_value(10, i, j);
      if (i == 5 && j == 9) value = std::numeric_limits<double>::quiet_NaN();
      if (i == 6 && j == 6) value = infinity;
      if (i == 7 && j == 11) value = -infinity;
      if (i == 63 && j % 8 == 3) value = j == 3 ? infinity : -infinity;
      entries.push_back({i, j, value});
    }
  }
  return matrix_of(64, 64, std::move(entries));
}

/// A row of 5,000 entries among 250 empty rows: as many as formats that pad rows still take.
inline CsrMatrix huge_row_among_empty_rows() {
  std::vector<Entry> entries;
  for (Index j = 0; j < 5007; ++j) {
    if (j % 715 != 4) entries.push_back({170, j, random_value(12, 170, j)});
  }
  return matrix_of(251, 5007, std::move(entries));
}

inline const std::vector<BatteryMatrix>& spmm_battery() {
  static const std::vector<BatteryMatrix> battery = {
      {"no_rows_no_cols", [] { return matrix_of(0, 0, {}); }},
      {"no_rows", [] { return matrix_of(0, 5, {}); }},
      {"no_cols", [] { return matrix_of(5, 0, {}); }},
      {"all_rows_empty", [] { return matrix_of(70, 9, {}); }},
      {"one_entry",
       [] {
         return matrix_of(1, 1, {{0, 0, -1.5}});
       }},
      {"last_row_empty",
       [] {
         return matrix_where(66, 40, [](Index i, Index j) { return i < 65 && (i + j) % 5 == 0; });
       }},
      {"only_last_row",
       [] { return matrix_where(131, 50, [](Index i, Index) { return i == 130; }); }},
      {"every_other_row_empty",
       [] {
         return matrix_where(99, 64, [](Index i, Index j) { return i % 2 == 1 && j % 3 == 0; });
       }},
      {"long_runs_of_empty_rows",
       [] {
         return matrix_where(2500, 12, [](Index i, Index j) { return i % 613 == 3 && j % 2 == 0; });
       }},
      {"first_and_last_column",
       [] { return matrix_where(40, 300, [](Index, Index j) { return j == 0 || j == 299; }); }},
      {"tridiagonal",
       [] {
         return matrix_where(130, 130, [](Index i, Index j) { return std::abs(i - j) <= 1; });
       }},
      {"dense_block", [] { return matrix_where(33, 65, [](Index, Index) { return true; }); }},
      {"wide", [] { return random_matrix(3, 1300, 0.4); }},
      {"tall", [] { return random_matrix(1300, 3, 0.4); }},
      {"just_above_a_warp", [] { return random_matrix(33, 33, 0.3); }},
      {"just_above_a_block", [] { return random_matrix(257, 129, 0.05); }},
      {"just_above_a_big_block", [] { return random_matrix(1025, 65, 0.03); }},
      // Longer than any piece that work is cut into, between short rows that share its pieces.
      {"one_huge_row",
       [] {
         return matrix_where(37, 6007, [](Index i, Index j) { return i == 17 || j % 1501 == i; });
       }},
      {"huge_row_among_empty_rows", huge_row_among_empty_rows},
      {"two_huge_rows_in_sequence",
       [] {
         return matrix_where(5, 3001, [](Index i, Index j) { return i == 2 || i == 3 || j == 8; });
       }},
      {"one_huge_column",
       [] {
         return matrix_where(3001, 7, [](Index i, Index j) { return j == 4 || i % 997 == j; });
       }},
      {"row_lengths_around_vector_widths",
       [] { return matrix_where(70, 70, [](Index i, Index j) { return j < i; }); }},
      {"power_law", power_law_matrix},
      // Sums that lose everything but the last bits: an error bound without |a||b| fails here.
      {"values_that_cancel",
       [] {
         std::vector<Entry> entries;
         for (Index i = 0; i < 60; ++i) {
           for (Index j = 0; j < 40; ++j) {
             const double value = 1024.0 * random_value(5, i, j / 2);
             entries.push_back({i, j, j % 2 == 0 ? value : -value * (1 + 0x1p-9)});
           }
         }
         return matrix_of(60, 40, std::move(entries));
       }},
      {"explicit_zeros", matrix_of_zeros},
      {"values_of_every_size", matrix_of_every_size},
      {"subnormal_values",
       [] {
         std::vector<Entry> entries;
         for (Index i = 0; i < 20; ++i) {
           for (Index j = 0; j < 20; ++j)
             entries.push_back({i, j, random_value(8, i, j) * 0x1p-140});
         }
         return matrix_of(20, 20, std::move(entries));
       }},
      {"values_that_overflow", overflowing_matrix},
      {"nan_and_infinities", matrix_with_nan_and_infinities},
  };
  return battery;
}

/// An independent copy, to see afterwards that the original was left alone.
inline CsrMatrix copy_of(const CsrMatrix& matrix) {
  ValueArray values(matrix.value_kind(), matrix.nnz());
  const auto bytes = static_cast<std::size_t>(matrix.nnz()) *
                     static_cast<std::size_t>(size_of(matrix.value_kind()));
  if (bytes > 0) std::memcpy(values.data(), matrix.values(), bytes);
  return CsrMatrix(matrix.rows(), matrix.cols(),
                   Buffer<Offset>::copy_of(matrix.row_offsets(), Offset{matrix.rows()} + 1),
                   Buffer<Index>::copy_of(matrix.col_indices(), matrix.nnz()), std::move(values));
}

}  // namespace csrkit::testing
