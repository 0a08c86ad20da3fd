// The adversarial products and the one judge that every SpGEMM kernel, on any machine, must
// satisfy. Each product is named after the bug it hunts. A kernel is tested by being in a table of
// SpgemmKernel.
#pragma once

#include <gtest/gtest.h>

#include "core/contract/spgemm.h"
#include "core/matrix/sorted_rows.h"
#include "tests/property/spmm/battery.h"

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
      {"scattered_columns",  // hash tables: more columns than any window, few products
       [] {
         std::vector<Entry> a, b;
         for (Index i = 0; i < 300; ++i) {
           for (Index k = 0; k < 1 + i % 9; ++k) a.push_back({i, (i * 13 + k * 41) % 401, 1.0 + k});
         }
         for (Index i = 0; i < 401; ++i) {
           for (Index k = 0; k < 1 + i % 11; ++k) {
             const auto col =
                 static_cast<Index>((Offset{i} * 7919 + Offset{k} * 104729 * 31) % 400009);
             b.push_back({i, col, random_value(4, i, k)});
           }
         }
         const auto unique = [](std::vector<Entry>& entries) {
           std::sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) {
             return std::pair(x.row, x.col) < std::pair(y.row, y.col);
           });
           entries.erase(std::unique(entries.begin(), entries.end(),
                                     [](const Entry& x, const Entry& y) {
                                       return x.row == y.row && x.col == y.col;
                                     }),
                         entries.end());
         };
         unique(a);
         unique(b);
         return ProductOperands{matrix_of(300, 401, a), matrix_of(401, 400009, b)};
       }},
      {"wider_than_any_window",  // many products over a million columns: tiles, wide sorts
       [] {
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
       }},
      {"around_vector_and_table_sizes",
       [] { return squared(matrix_where(140, 140, [](Index i, Index j) { return j < i; })); }},
      // Rows of 2 to 140 products, some columns met again and again and most once: the lists of
      // columns, whose vectors hold 8 or 16.
      {"few_products_far_apart",
       [] {
         constexpr Index kCols = 60000;
         std::vector<Entry> a, b;
         for (Index k = 0; k < 80; ++k) {
           for (Index n = 0; n < 1 + k % 40; ++n) {
             const Index col = n % 3 == 0 ? n * 1999 % kCols : (k * 7919 + n * 4001) % kCols;
             b.push_back({k, col, random_value(20, k, n)});
           }
         }
         std::sort(b.begin(), b.end(), [](const Entry& x, const Entry& y) {
           return x.row != y.row ? x.row < y.row : x.col < y.col;
         });
         b.erase(std::unique(b.begin(), b.end(),
                             [](const Entry& x, const Entry& y) {
                               return x.row == y.row && x.col == y.col;
                             }),
                 b.end());
         for (Index i = 0; i < 300; ++i) {
           for (Index n = 0; n < 2 + i % 7; ++n) {
             a.push_back({i, (i * 11 / 7 + n * 13) % 80, random_value(21, i, n)});
           }
         }
         return ProductOperands{matrix_of(300, 80, a), matrix_of(80, kCols, b)};
       }},
      // Rows of 0 to 18 products, of rows of B with 0 to 15 entries, near each other and far apart,
      // that meet the first and the last column of B again and again: rows in registers.
      {"a_vector_of_products",
       [] {
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
       }},
      // Neighbouring rows of B with the same columns, in groups of 1 to 6, near each other in the
      // first half and far apart in the second; rows of A begin and end within the groups, the last
      // ones soon.
      {"rows_of_b_alike",
       [] {
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
       }},
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
      // Sums that are exactly 0 stay entries; a partial sum passes through 0.
      {"values_that_cancel",
       [] {
         std::vector<Entry> a, b;
         for (Index i = 0; i < 60; ++i) {
           for (Index k = 0; k < 40; ++k) a.push_back({i, k, k % 2 == 0 ? 1.0 : -1.0});
         }
         for (Index k = 0; k < 40; ++k) {
           for (Index j = 0; j < 50; ++j) b.push_back({k, j, 1.0 + (k / 2 + j) % 3});
         }
         return ProductOperands{matrix_of(60, 40, a), matrix_of(40, 50, b)};
       }},
      {"explicit_zeros", [] { return squared(matrix_of_zeros()); }},
      {"values_of_every_size", [] { return squared(matrix_of_every_size()); }},
      {"values_that_overflow", [] { return squared(overflowing_matrix()); }},
      {"nan_and_infinities", [] { return squared(matrix_with_nan_and_infinities()); }},
  };
  return battery;
}

/// Kinds of A, B and of C and the accumulation.
struct ProductKinds {
  ValueKind a, b, c;
};

inline std::vector<ProductKinds> product_kinds_within(Capabilities capabilities) {
  std::vector<ProductKinds> all;
  const std::pair<ValueKind, Capabilities> stored[] = {{ValueKind::f64, kF64},
                                                       {ValueKind::f32, kF32},
                                                       {ValueKind::f16, kF16},
                                                       {ValueKind::bf16, kBf16}};
  for (const auto& [kind, capability] : stored) {
    if (!(capabilities & capability)) continue;
    const ValueKind c = kind == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
    if (c == ValueKind::f32 && !(capabilities & kF32)) continue;
    all.push_back({kind, kind, c});
    if (!(capabilities & kImplicitOnes)) continue;
    all.push_back({ValueKind::none, kind, c});
    all.push_back({kind, ValueKind::none, c});
    if (kind == c) all.push_back({ValueKind::none, ValueKind::none, c});
  }
  return all;
}

struct ProductCase {
  ProductKinds kinds = {ValueKind::f64, ValueKind::f64, ValueKind::f64};
  bool transpose_b = false;
  bool with_mask = false;
  double alpha = 1;
  double drop_below = 0;
  Semiring semiring = Semiring::plus_times;
  bool sorts_rows = true;
  std::vector<Execution> executions = {Execution{}};  // all of these must give the same bits
  CheckOptions check;
};

inline std::string describe(const ProductCase& item) {
  return std::string(csrkit::name_of(item.kinds.a)) + "*" + csrkit::name_of(item.kinds.b) + "->" +
         csrkit::name_of(item.kinds.c) + (item.transpose_b ? " transposed" : "") +
         (item.with_mask ? " masked" : "") + " alpha=" + std::to_string(item.alpha) +
         " drop_below=" + std::to_string(item.drop_below) + " " + csrkit::name_of(item.semiring) +
         (item.sorts_rows ? "" : " unsorted");
}

/// The problem of a case. `transpose_b` hands B over as its transpose, so that the product stays
/// the same.
inline SpgemmProblem problem_of(const ProductOperands& operands, const ProductCase& item) {
  SpgemmProblem problem;
  problem.a = convert_values(operands.a, item.kinds.a);
  const bool b_is_a = operands.a.col_indices() == operands.b.col_indices() &&
                      operands.a.row_offsets() == operands.b.row_offsets();
  problem.b =
      b_is_a && item.kinds.a == item.kinds.b ? problem.a : convert_values(operands.b, item.kinds.b);
  if (item.transpose_b) problem.b = transpose(problem.b);
  problem.transpose_b = item.transpose_b;
  problem.c = item.kinds.c;
  problem.accumulate = item.kinds.c;
  problem.alpha = item.alpha;
  problem.drop_below = item.drop_below;
  problem.semiring = item.semiring;
  problem.sorts_rows = item.sorts_rows;
  if (item.with_mask) {
    // Some of C, and some that is not in C.
    std::vector<Entry> entries;
    const Index rows = problem.output_rows(), cols = problem.output_cols();
    for (Index i = 0; i < rows; ++i) {
      const Index step = 1 + i % 5 + cols / 400;
      for (Index j = i % 3; j < cols; j += step) entries.push_back({i, j, 0.0});
    }
    problem.mask = matrix_of(rows, cols, std::move(entries), ValueKind::none);
  }
  return problem;
}

inline CsrMatrix product_of(SpgemmPlan& plan, const SpgemmProblem& problem) {
  MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
  plan.multiply(sink);
  return sink.finish();
}

/// Blocks of a result and how many there were, as a sink that does not keep them would see them.
class CopyingSink : public CsrSink {
 public:
  CopyingSink(const SpgemmProblem& problem)
      : kept_(problem.output_rows(), problem.output_cols(), problem.c) {}
  void append_rows(const CsrMatrix& block) override {
    kept_.append_rows(copy_of(block));
    ++blocks_;
  }
  CsrMatrix finish() { return kept_.finish(); }
  int blocks() const { return blocks_; }

 private:
  MemorySink kept_;
  int blocks_ = 0;
};

/// Runs one case and judges everything that the contract promises: the structure and the values of
/// C, the same bits from run to run, for every execution, for row blocks under a memory limit and
/// after set_values; the forecast above the peak; A and B untouched.
inline void check_kernel_on(const SpgemmKernel& kernel, const ProductOperands& operands,
                            const ProductCase& item = {}) {
  SCOPED_TRACE(std::string(kernel.name) + " " + describe(item));
  const SpgemmProblem problem = problem_of(operands, item);
  const CsrMatrix a_before = copy_of(problem.a), b_before = copy_of(problem.b);
  const bool deterministic = kernel.can(kDeterministic);
  std::optional<CsrMatrix> first;
  for (const Execution& where : item.executions) {
    PlanOptions options;
    options.deterministic = deterministic;
    options.where = where;
    const auto plan = kernel.make_plan(problem, options);
    const SpgemmForecast forecast = plan->forecast();
    for (int run = 0; run < 2; ++run) {
      const CsrMatrix c = product_of(*plan, problem);
      if (!first || !deterministic) {
        first = c;
        const CheckResult result = check_spgemm(problem, c, item.check);
        ASSERT_TRUE(result.passed) << result.failure;
        if (!item.sorts_rows && deterministic) {
          SpgemmProblem sorted = problem;
          sorted.sorts_rows = true;
          const auto same = kernel.make_plan(sorted, options);
          ASSERT_TRUE(identical(with_sorted_rows(c), product_of(*same, sorted)))
              << "the order of columns changed bits";
        }
      }
      ASSERT_TRUE(identical(*first, c))
          << "run " << run << " with " << where.threads << " threads gave other bits";
    }
    const SpgemmPhases phases = plan->phases();
    ASSERT_EQ(phases.output_nnz, first->nnz());
    ASSERT_LE(phases.output_nnz, forecast.output_nnz_bound);
    if (kernel.role != Role::vendor) {  // what a vendor's library takes shows only when it runs
      ASSERT_LE(phases.peak_bytes, forecast.peak_bytes);
    }
    if (!problem
             .transpose_b) {  // else what is held is the transpose; offsets may be kept in 32 bits
      ASSERT_GE(phases.peak_bytes, operand_bytes(problem) / 2);
    }
    if (kernel.can(kReuse)) {
      // Other values and back: nothing of the first ones may stay.
      const auto negated = [](const CsrMatrix& matrix) {
        if (matrix.value_kind() == ValueKind::none) return matrix;
        CsrMatrix other = convert_values(copy_of(matrix), ValueKind::f64);
        auto* const values = static_cast<double*>(const_cast<void*>(other.values()));
        for (Offset i = 0; i < other.nnz(); ++i) values[i] = -0.5 * values[i];
        return convert_values(other, matrix.value_kind());
      };
      SpgemmProblem changed = problem;
      changed.a = negated(problem.a);
      changed.b = problem.b_is_a() ? changed.a : problem.b;
      plan->set_values(changed.a, changed.b);
      const CheckResult result = check_spgemm(changed, product_of(*plan, problem), item.check);
      ASSERT_TRUE(result.passed) << "after set_values: " << result.failure;
      plan->set_values(problem.a, problem.b);
      ASSERT_GE(plan->time_numeric(), 0);
      ASSERT_TRUE(!deterministic || identical(*first, product_of(*plan, problem)))
          << "other bits after set_values";
    }
    ASSERT_GE(plan->time_multiply(), 0);
  }
  ASSERT_TRUE(identical(a_before, problem.a)) << "A was changed";
  ASSERT_TRUE(identical(b_before, problem.b)) << "B was changed";
}

/// A product of the battery, in f64 and from a pattern in f32.
inline void check_kernel_on(const SpgemmKernel& kernel, const BatteryProduct& product) {
  SCOPED_TRACE(product.name);
  const ProductOperands operands = product.make();
  ProductCase item;
  check_kernel_on(kernel, operands, item);
  item.kinds = {ValueKind::none, ValueKind::f32, ValueKind::f32};
  item.alpha = -1.25;
  check_kernel_on(kernel, operands, item);
}

/// With less memory than all of C takes: more blocks, the same bits, the limit kept.
inline void check_row_blocks(const SpgemmKernel& kernel, const ProductOperands& operands,
                             const ProductCase& item, Execution where) {
  SCOPED_TRACE(std::string(kernel.name) + " in blocks " + describe(item));
  const SpgemmProblem problem = problem_of(operands, item);
  PlanOptions options;
  options.where = where;
  const auto plan = kernel.make_plan(problem, options);
  const CsrMatrix whole = product_of(*plan, problem);
  const std::uint64_t c_bytes = whole.size_bytes();
  // The structure is known now, so the forecast is what C takes without anything beside it for a
  // first time.
  const std::uint64_t least = std::min(plan->phases().peak_bytes, plan->forecast().whole_bytes);
  options.memory_limit_bytes = least - c_bytes + c_bytes / 3;
  try {
    const auto limited = kernel.make_plan(problem, options);
    CopyingSink sink(problem);
    limited->multiply(sink);
    ASSERT_GT(sink.blocks(), 1);
    ASSERT_EQ(limited->phases().row_blocks, sink.blocks());
    ASSERT_LE(limited->phases().peak_bytes, options.memory_limit_bytes);
    ASSERT_LE(limited->forecast().peak_bytes, options.memory_limit_bytes);
    ASSERT_TRUE(identical(whole, sink.finish())) << "row blocks gave other bits";
    MemorySink keeping(problem.output_rows(), problem.output_cols(), problem.c);
    ASSERT_THROW(limited->multiply(keeping), MemoryError);
  } catch (const MemoryError& error) {
    FAIL() << error.what();
  }
  options.memory_limit_bytes = operand_bytes(problem) / 2;
  ASSERT_THROW(kernel.make_plan(problem, options), MemoryError);
}

}  // namespace csrkit::testing
