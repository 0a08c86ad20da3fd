// The one judge that every SpMM kernel, on any machine, must satisfy. A kernel is tested by being
// in a table of SpmmKernel.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/contract/spmm.h"
#include "core/judge/compare.h"
#include "core/matrix/dense_matrix.h"
#include "tests/property/matrices.h"

namespace csrkit::testing {

/// The dense widths at which vectors, warps and unrolled loops have their edges.
inline const std::vector<Index>& battery_dense_cols() {
  static const std::vector<Index> all = {1,  2,  3,  7,  8,   15,  16,  17,
                                         31, 32, 33, 64, 100, 255, 256, 257};
  return all;
}

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
