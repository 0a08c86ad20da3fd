// The adversarial matrices and the one judge that every SpMM kernel, on any machine, must satisfy.
// Each matrix is named after the bug it hunts. A kernel is tested by being in a table of
// SpmmKernel.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/contract/spmm.h"
#include "core/judge/compare.h"
#include "core/matrix/csr_matrix.h"
#include "core/matrix/dense_matrix.h"

namespace csrkit::testing {

// ---------------------------------------------------------------- matrices

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

/// The dense widths at which vectors, warps and unrolled loops have their edges.
inline const std::vector<Index>& battery_dense_cols() {
  static const std::vector<Index> all = {1,  2,  3,  7,  8,   15,  16,  17,
                                         31, 32, 33, 64, 100, 255, 256, 257};
  return all;
}

// ---------------------------------------------------------------- what is asked of a kernel

/// A legal row of the table of kinds.
struct Kinds {
  ValueKind a, b, c, accumulate;
};

/// Every legal combination within what a kernel can do.
inline std::vector<Kinds> kinds_within(Capabilities capabilities) {
  std::vector<Kinds> all;
  const std::pair<ValueKind, Capabilities> vectors[] = {{ValueKind::f32, kF32},
                                                        {ValueKind::f64, kF64},
                                                        {ValueKind::f16, kF16},
                                                        {ValueKind::bf16, kBf16}};
  for (const auto& [b, capability] : vectors) {
    if (!(capabilities & capability)) continue;
    const ValueKind accumulate = b == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
    for (const ValueKind a : {b, ValueKind::none}) {
      if (a == ValueKind::none && !(capabilities & kImplicitOnes)) continue;
      all.push_back({a, b, accumulate, accumulate});
      if (b != accumulate && (capabilities & kNarrowOutput)) {
        all.push_back({a, b, b, accumulate});
      }
    }
  }
  if (capabilities & kWideOperands) {
    all.push_back({ValueKind::f32, ValueKind::f64, ValueKind::f64, ValueKind::f64});
  }
  return all;
}

inline std::string name_of(const Kinds& kinds) {
  return std::string(csrkit::name_of(kinds.a)) + "*" + csrkit::name_of(kinds.b) + "->" +
         csrkit::name_of(kinds.c);
}

enum class BPattern {
  random,         // uniform in [-1, 1)
  integers,       // -8 ... 8: with small integers in A every sum is exact
  every_size,     // 2^-20 ... 2^20, both signs
  not_all_finite  // random, with a NaN, both infinities and negative zeros sprinkled in
};

inline void fill_pattern(DenseView dense, BPattern pattern, std::uint64_t seed) {
  fill_random(dense, seed);
  if (pattern == BPattern::random) return;
  for (Index i = 0; i < dense.rows; ++i) {
    for (Index j = 0; j < dense.cols; ++j) {
      const std::uint64_t word = random_word(seed + 1, i, j);
      if (pattern == BPattern::integers) {
        dense.set(i, j, static_cast<double>(below(word, 17)) - 8);
      } else if (pattern == BPattern::every_size) {
        dense.set(i, j,
                  std::ldexp(random_value(seed, i, j), static_cast<int>(below(word, 41)) - 20));
      } else {
        switch (below(word, 40)) {
          case 0: dense.set(i, j, std::numeric_limits<double>::quiet_NaN()); break;
          case 1: dense.set(i, j, std::numeric_limits<double>::infinity()); break;
          case 2: dense.set(i, j, -std::numeric_limits<double>::infinity()); break;
          case 3: dense.set(i, j, -0.0); break;
          default: break;
        }
      }
    }
  }
}

struct KernelCase {
  Kinds kinds = {ValueKind::f32, ValueKind::f32, ValueKind::f32, ValueKind::f32};
  bool transpose_a = false;
  Semiring semiring = Semiring::plus_times;
  double alpha = 1;
  double beta = 0;
  Offset padding = 0;  // columns between the rows of B and C, leading_dim - cols
  BPattern pattern = BPattern::random;
  std::vector<Execution> executions = {Execution{}};  // all of these must give the same bits
  CheckOptions check;
  std::string variant;  // PlanOptions::variant
};

inline std::string describe(const KernelCase& item, Index dense_cols) {
  return name_of(item.kinds) + " K=" + std::to_string(dense_cols) +
         (item.transpose_a ? " transposed" : "") + " " + csrkit::name_of(item.semiring) +
         " alpha=" + std::to_string(item.alpha) + " beta=" + std::to_string(item.beta) +
         " padding=" + std::to_string(item.padding) +
         " pattern=" + std::to_string(static_cast<int>(item.pattern));
}

/// A dense host matrix between two guards. Guards and padding hold a byte pattern that no kernel
/// may change.
class GuardedDense {
 public:
  static constexpr unsigned char kGuardByte = 0xa5;
  static constexpr std::size_t kGuardBytes = 4096;

  GuardedDense(Index rows, Index cols, ValueKind kind, Offset padding)
      : bytes_(2 * kGuardBytes + static_cast<std::size_t>(rows) *
                                     static_cast<std::size_t>(cols + padding) *
                                     static_cast<std::size_t>(size_of(kind)),
               kGuardByte) {
    view_ = {bytes_.data() + kGuardBytes, kind, rows, cols, cols + padding};
  }
  GuardedDense(const GuardedDense&) = delete;
  GuardedDense& operator=(const GuardedDense&) = delete;

  DenseView view() const { return view_; }

  /// Sets every element, and no padding.
  void fill(double value) {
    for (Index i = 0; i < view_.rows; ++i) {
      for (Index j = 0; j < view_.cols; ++j) view_.set(i, j, value);
    }
  }

  bool guards_intact() const {
    const auto untouched = [](unsigned char byte) { return byte == kGuardByte; };
    if (!std::all_of(bytes_.begin(), bytes_.begin() + kGuardBytes, untouched)) return false;
    if (!std::all_of(bytes_.end() - kGuardBytes, bytes_.end(), untouched)) return false;
    const auto element = static_cast<std::size_t>(size_of(view_.kind));
    const std::size_t row_bytes = static_cast<std::size_t>(view_.leading_dim) * element;
    for (Index i = 0; i < view_.rows; ++i) {
      const auto row = bytes_.begin() + static_cast<std::ptrdiff_t>(
                                            kGuardBytes + static_cast<std::size_t>(i) * row_bytes);
      if (!std::all_of(
              row + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(view_.cols) * element),
              row + static_cast<std::ptrdiff_t>(row_bytes), untouched)) {
        return false;
      }
    }
    return true;
  }

  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
  DenseView view_;
};

inline SpmmProblem problem_of(const CsrMatrix& matrix, const KernelCase& item, Index dense_cols) {
  SpmmProblem problem;
  problem.a = convert_values(matrix, item.kinds.a);
  problem.dense_cols = dense_cols;
  problem.transpose_a = item.transpose_a;
  problem.b = item.kinds.b;
  problem.c = item.kinds.c;
  problem.accumulate = item.kinds.accumulate;
  problem.semiring = item.semiring;
  return problem;
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

/// Runs one case and judges everything that the contract promises: C within the derived bound
/// although it was NaN before (beta 0), guards and padding untouched, A and B untouched, and, where
/// the kernel declares itself deterministic, the same bits from run to run and for every execution.
/// Operands are on the host; a plan that computes elsewhere brings C back in fetch_output.
inline void check_kernel_on(const SpmmKernel& kernel, const CsrMatrix& matrix, Index dense_cols,
                            const KernelCase& item = {}) {
  SCOPED_TRACE(std::string(kernel.name) + " " + describe(item, dense_cols));
  const SpmmProblem problem = problem_of(matrix, item, dense_cols);
  const CsrMatrix a_before = copy_of(problem.a);
  GuardedDense b(problem.input_rows(), dense_cols, problem.b, item.padding);
  GuardedDense c(problem.output_rows(), dense_cols, problem.c, item.padding);
  GuardedDense c0(problem.output_rows(), dense_cols, problem.c, item.padding);
  fill_pattern(b.view(), item.pattern, 11);
  if (item.beta == 0) {
    c0.fill(std::numeric_limits<double>::quiet_NaN());
  } else {
    fill_random(c0.view(), 12);
  }
  const std::vector<unsigned char> b_before = b.bytes();
  const std::size_t c_bytes = c.bytes().size();
  const bool deterministic = kernel.can(kDeterministic);
  std::vector<unsigned char> first_bits;

  for (const Execution& where : item.executions) {
    PlanOptions options;
    options.deterministic = deterministic;
    options.where = where;
    options.variant = item.variant;
    const auto plan = kernel.make_plan(problem, options);
    for (int run = 0; run < 2; ++run) {
      std::memcpy(static_cast<unsigned char*>(c.view().data) - GuardedDense::kGuardBytes,
                  c0.bytes().data(), c_bytes);
      plan->bind(b.view(), c.view());
      plan->multiply(item.alpha, item.beta);
      plan->fetch_output();
      ASSERT_TRUE(c.guards_intact()) << "something outside C was written";
      if (first_bits.empty() || !deterministic) {
        first_bits = c.bytes();
        const ConstDenseView c0_view = c0.view();
        const CheckResult result =
            check_spmm(problem, b.view(), item.alpha, item.beta,
                       item.beta == 0 ? nullptr : &c0_view, c.view(), item.check);
        ASSERT_TRUE(result.passed) << result.failure;
      }
      ASSERT_TRUE(first_bits == c.bytes())
          << "run " << run << " with " << where.threads << " threads gave other bits";
    }
  }
  ASSERT_TRUE(b_before == b.bytes()) << "B was changed";
  ASSERT_TRUE(identical(a_before, problem.a)) << "A was changed";
}

}  // namespace csrkit::testing
