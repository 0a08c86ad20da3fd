// The adversarial products on which every SpGEMM kernel is tested. Each is named after the bug it
// hunts.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "tests/property/matrices.h"

namespace csrkit::testing {

/// Operands of one product, in f64; convert_values gives the other kinds.
struct ProductOperands {
  CsrMatrix a;
  CsrMatrix b;
};

struct BatteryProduct {
  const char* name;  // the bug it hunts
  ProductOperands (*make)();
};

inline ProductOperands squared(const CsrMatrix& a) { return {a, a}; }

/// Whether the points i and j of a grid with rows of `width` points are the same or neighbours.
inline bool are_neighbours(Index i, Index j, Index width) {
  const Index apart = std::abs(i - j);
  return apart == 0 || apart == width || (apart == 1 && i / width == j / width);
}

/// A grid of 29 x 24 points, where an entry is missing and one is too many: rows follow the pattern
/// of the row before, of A as well as of B, and stop doing so in one of both, or at an edge.
inline CsrMatrix grid_with_flaws() {
  return matrix_where(696, 696, [](Index i, Index j) {
    return (are_neighbours(i, j, 29) && !(i == 310 && j == 281)) || (i == 450 && j == 477);
  });
}

/// One entry for each place that is named.
inline std::vector<Entry> without_repeats(std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) {
    return std::pair(x.row, x.col) < std::pair(y.row, y.col);
  });
  const auto is_same_place = [](const Entry& x, const Entry& y) {
    return x.row == y.row && x.col == y.col;
  };
  entries.erase(std::unique(entries.begin(), entries.end(), is_same_place), entries.end());
  return entries;
}

/// Hash tables: more columns than any window, few products.
inline ProductOperands scattered_columns() {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 300; ++i) {
    for (Index k = 0; k < 1 + i % 9; ++k) a.push_back({i, (i * 13 + k * 41) % 401, 1.0 + k});
  }
  for (Index i = 0; i < 401; ++i) {
    for (Index k = 0; k < 1 + i % 11; ++k) {
      const auto col = static_cast<Index>((Offset{i} * 7919 + Offset{k} * 104729 * 31) % 400009);
      b.push_back({i, col, random_value(4, i, k)});
    }
  }
  return {matrix_of(300, 401, without_repeats(a)), matrix_of(401, 400009, without_repeats(b))};
}

/// Many products over a million columns: tiles, wide sorts.
inline ProductOperands wider_than_any_window() {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 3; ++i) {
    for (Index k = 0; k < 700; k += 1 + i) a.push_back({i, k, random_value(5, i, k)});
  }
  for (Index i = 0; i < 700; ++i) {
    for (Index k = 0; k < 12; ++k) {
      b.push_back({i, k * 100000 + (i * 5741) % 100000, random_value(6, i, k)});
    }
  }
  return ProductOperands{matrix_of(3, 700, a), matrix_of(700, 1200000, b)};
}

/// Rows of 2 to 140 products, some columns met again and again and most once: the lists of columns,
/// whose vectors hold 8 or 16.
inline ProductOperands few_products_far_apart() {
  constexpr Index kCols = 60000;
  std::vector<Entry> a, b;
  for (Index k = 0; k < 80; ++k) {
    for (Index n = 0; n < 1 + k % 40; ++n) {
      const Index col = n % 3 == 0 ? n * 1999 % kCols : (k * 7919 + n * 4001) % kCols;
      b.push_back({k, col, random_value(20, k, n)});
    }
  }
  for (Index i = 0; i < 300; ++i) {
    for (Index n = 0; n < 2 + i % 7; ++n) {
      a.push_back({i, (i * 11 / 7 + n * 13) % 80, random_value(21, i, n)});
    }
  }
  return {matrix_of(300, 80, a), matrix_of(80, kCols, without_repeats(b))};
}

/// Rows of 0 to 18 products, of rows of B with 0 to 15 entries, near each other and far apart, that
/// meet the first and the last column of B again and again: rows in registers.
inline ProductOperands a_vector_of_products() {
  constexpr Index kCols = 9000;
  std::vector<Entry> a, b;
  for (Index k = 0; k < 64; ++k) {
    const Index length = k % 16, stride = k < 32 ? 1 : 500;
    for (Index n = 0; n < length; ++n) {
      Index col = (k / 16 + n) * stride;
      if (k % 3 == 0 && n + 1 == length) col = kCols - 1;
      b.push_back({k, col, random_value(22, k, n)});
    }
  }
  Index row = 0;
  for (Index half = 0; half < 64; half += 32) {
    for (Index first = 0; first < 16; ++first) {
      for (Index second = 0; second + first < 17; ++second) {
        for (const Index third : {0, 1, 2}) {
          a.push_back({row, half + first, random_value(23, row, 0)});
          if (second < 16) a.push_back({row, half + 16 + second, random_value(23, row, 1)});
          a.push_back({row, (half + 32) % 64 + third, random_value(23, row, 2)});
          ++row;
        }
      }
    }
  }
  return ProductOperands{matrix_of(row, 64, a), matrix_of(64, kCols, b)};
}

/// Neighbouring rows of B with the same columns, in groups of 1 to 6, near each other in the first
/// half and far apart in the second; rows of A begin and end within the groups, the last ones soon.
inline ProductOperands rows_of_b_alike() {
  std::vector<Entry> a, b;
  Index rows = 0;
  for (Index group = 0; rows < 120; ++group) {
    for (Index n = 0; n < 1 + group % 6; ++n, ++rows) {
      for (Index j = 0; j < 15 + group % 4; ++j) {
        b.push_back({rows, group + j * (rows < 60 ? 2 : 190), random_value(30, rows, j)});
      }
    }
  }
  for (Index i = 0; i < 80; ++i) {
    const Index begin = i < 60 ? i / 2 : rows - 4 - i % 7;
    const Index end = i < 60 ? rows : begin + 4;
    for (Index k = begin; k < end; ++k) {
      if ((k * 5 + i) % 7 != 0) a.push_back({i, k, random_value(31, i, k)});
    }
  }
  return ProductOperands{matrix_of(80, rows, a), matrix_of(rows, 4000, b)};
}

/// Sums that are exactly 0 stay entries; a partial sum passes through 0.
inline ProductOperands values_that_cancel() {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 60; ++i) {
    for (Index k = 0; k < 40; ++k) a.push_back({i, k, k % 2 == 0 ? 1.0 : -1.0});
  }
  for (Index k = 0; k < 40; ++k) {
    for (Index j = 0; j < 50; ++j) b.push_back({k, j, 1.0 + (k / 2 + j) % 3});
  }
  return ProductOperands{matrix_of(60, 40, a), matrix_of(40, 50, b)};
}

inline const std::vector<BatteryProduct>& spgemm_battery() {
  static const std::vector<BatteryProduct> battery = {
      {"nothing_times_nothing", [] { return squared(matrix_of(0, 0, {})); }},
      {"no_rows",
       [] {
         return ProductOperands{matrix_of(0, 5, {}), random_matrix(5, 4, 0.5)};
       }},
      {"no_cols",
       [] {
         return ProductOperands{random_matrix(5, 4, 0.5), matrix_of(4, 0, {})};
       }},
      {"no_inner",
       [] {
         return ProductOperands{matrix_of(3, 0, {}), matrix_of(0, 4, {})};
       }},
      {"all_rows_empty", [] { return squared(matrix_of(70, 70, {})); }},
      {"only_empty_rows_are_met",
       [] {
         return ProductOperands{matrix_where(40, 40, [](Index, Index j) { return j % 2 == 0; }),
                                matrix_where(40, 40, [](Index i, Index) { return i % 2 == 1; })};
       }},
      {"no_path_of_two",  // nothing in C, but a shape and a kind
       [] {
         return squared(matrix_where(1000, 1000, [](Index i, Index j) {
           return i < 500 && j >= 500 && (i + j) % 50 == 0;
         }));
       }},
      {"one_entry",
       [] {
         return squared(matrix_of(1, 1, {{0, 0, -1.5}}));
       }},
      {"identity", [] { return squared(identity_matrix(100, ValueKind::f64)); }},
      {"row_times_column",  // one entry of C from all of A and B
       [] {
         return ProductOperands{matrix_where(1, 3001, [](Index, Index) { return true; }),
                                matrix_where(3001, 1, [](Index, Index) { return true; })};
       }},
      {"column_times_row",  // outer product: compression 1, every row a copy
       [] {
         return ProductOperands{matrix_where(301, 1, [](Index, Index) { return true; }),
                                matrix_where(1, 307, [](Index, Index) { return true; })};
       }},
      {"compression_of_n",  // all products of a row meet in one column
       [] {
         return ProductOperands{matrix_where(65, 257, [](Index, Index) { return true; }),
                                matrix_where(257, 300, [](Index, Index j) { return j == 299; })};
       }},
      {"all_dense",
       [] { return squared(matrix_where(67, 67, [](Index, Index) { return true; })); }},
      {"dense_and_wide",
       [] {
         return ProductOperands{random_matrix(20, 33, 0.7), random_matrix(33, 5000, 0.4)};
       }},
      {"tridiagonal",
       [] {
         return squared(
             matrix_where(300, 300, [](Index i, Index j) { return std::abs(i - j) <= 1; }));
       }},
      {"banded_at_a_distance",  // few sources, wide windows
       [] {
         return squared(matrix_where(2100, 2100, [](Index i, Index j) {
           return i == j || std::abs(i - j) == 1 || std::abs(i - j) == 1000;
         }));
       }},
      {"grid_with_flaws", [] { return squared(grid_with_flaws()); }},
      {"wide_pattern_times_grid",  // A's rows follow each other where B's do not
       [] {
         return ProductOperands{matrix_where(600, 696,
                                             [](Index i, Index j) {
                                               return j >= i && j - i < 80 && (j - i) % 3 == 0;
                                             }),
                                grid_with_flaws()};
       }},
      {"arrow",  // every row of C is dense, one row of A is
       [] {
         return squared(
             matrix_where(600, 600, [](Index i, Index j) { return i == 0 || j == 0 || i == j; }));
       }},
      {"hub_times_hub",  // one row with far more products than all others
       [] {
         return ProductOperands{
             matrix_where(50, 4000, [](Index i, Index j) { return i == 7 || j % 997 == i; }),
             matrix_where(4000, 3000, [](Index i, Index j) {
               return j == i % 3000 || (i % 500 == 0 && j % 3 == 0);
             })};
       }},
      {"huge_row_among_empty_rows",
       [] {
         return ProductOperands{
             huge_row_among_empty_rows(),
             matrix_where(5007, 300, [](Index i, Index j) { return (i + j) % 150 == 0; })};
       }},
      {"one_source_row_each",
       [] {
         return ProductOperands{
             matrix_where(200, 200, [](Index i, Index j) { return j == (i * 7) % 200; }),
             random_matrix(200, 500, 0.1)};
       }},
      {"few_entries_of_one_source_row",  // rows of B are short on average: 120 rows of C are not
       [] {
         return ProductOperands{
             matrix_where(600, 400, [](Index i, Index j) { return j == (i * 7) % 10 * 20; }),
             matrix_where(400, 500, [](Index i, Index j) {
               return i == j || (i == 20 && j % 5 == 0) || (i == 40 && j % 2 == 0);
             })};
       }},
      {"scattered_columns", scattered_columns},
      {"wider_than_any_window", wider_than_any_window},
      {"around_vector_and_table_sizes",
       [] { return squared(matrix_where(140, 140, [](Index i, Index j) { return j < i; })); }},
      {"few_products_far_apart", few_products_far_apart},
      {"a_vector_of_products", a_vector_of_products},
      {"rows_of_b_alike", rows_of_b_alike},
      {"power_law",
       [] {
         return ProductOperands{power_law_matrix(), random_matrix(701, 300, 0.05)};
       }},
      {"wide",
       [] {
         return ProductOperands{random_matrix(3, 900, 0.4), random_matrix(900, 70, 0.2)};
       }},
      {"tall",
       [] {
         return ProductOperands{random_matrix(1300, 3, 0.4), random_matrix(3, 80, 0.5)};
       }},
      {"values_that_cancel", values_that_cancel},
      {"explicit_zeros", [] { return squared(matrix_of_zeros()); }},
      {"values_of_every_size", [] { return squared(matrix_of_every_size()); }},
      {"values_that_overflow", [] { return squared(overflowing_matrix()); }},
      {"nan_and_infinities", [] { return squared(matrix_with_nan_and_infinities()); }},
  };
  return battery;
}

}  // namespace csrkit::testing
