// What the judges of core/judge/compare.h share; for compare*.cpp only.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/base/value_kind.h"
#include "core/contract/semiring.h"
#include "core/matrix/memory_space.h"

namespace csrkit {

inline constexpr double kDoubleRoundoff = 0x1p-53;

/// gamma(m) = m u / (1 - m u), or 2 m u where that is no bound (see compare.h).
inline double gamma_of(double roundings, double unit) {
  const double mu = roundings * unit;
  return mu <= 0.5 ? mu / (1 - mu) : 2 * mu;
}

/// The error of rounding what is `size` large to C's kind. No rounding of an infinity is 0, too.
inline double rounding_of(double size, double unit) { return unit > 0 ? unit * size : 0; }

inline std::string text_of(double value) { return rounded(value, 17); }

inline void require_host(MemorySpace space, const char* name) {
  if (space == MemorySpace::host) return;
  throw UsageError(std::string("the check needs ") + name +
                   " in host memory; fetch the output or copy the operand first");
}

/// What decides whether an entry is right that is, or should be, NaN or infinite.
struct SpecialEntry {
  double expected, found, bound;
  double special_sum;     // of the terms with an operand, alpha or beta that is not finite, or 0
  bool may_leave_range;   // a partial sum, or the result, may not fit the accumulation's kind
  double largest_stored;  // of C's kind if that is narrower than the accumulation's, else infinity

  bool is_right() const {
    if (!std::isfinite(expected)) {
      // Finite operands: the reference itself overflowed, and another order of summation may not.
      if (special_sum == 0) return may_leave_range;
      // The reference's finite terms overflowed to the other infinity; added one by one to the one
      // that is stored they do not.
      if (std::isnan(expected)) {
        return std::isnan(found) || (may_leave_range && found == special_sum);
      }
      return found == expected || (may_leave_range && !std::isfinite(found));
    }
    if (may_leave_range) return true;  // found is infinite or NaN, and may be
    return std::isinf(found) && std::signbit(found) == std::signbit(expected) &&
           std::fabs(expected) + bound > largest_stored;
  }
};

/// For SpecialEntry::largest_stored.
inline double largest_stored(ValueKind c, ValueKind accumulate) {
  return c == accumulate ? std::numeric_limits<double>::infinity() : largest_finite(c);
}

/// A sum of `terms` products as the reference has it. `finite_sum` is the sum of the magnitudes of
/// its finite products: what partial sums may reach. `finite_added` is the magnitude of beta c0, 0
/// where c0 is not finite.
struct ReferenceSum {
  Offset terms;
  double value, magnitude, finite_sum;
  double finite_added = 0;
};

/// Whether a partial sum, or the result, may lie outside the range of the accumulation's kind.
inline bool may_leave_range(const ReferenceSum& sum, ValueKind accumulate, Semiring semiring,
                            double alpha) {
  const double slack = 1 + gamma_of(static_cast<double>(sum.terms) + 3, unit_roundoff(accumulate));
  const auto fits = [&](double reached) { return reached * slack <= largest_finite(accumulate); };
  if (semiring != Semiring::plus_times) {
    return !std::isnan(sum.value) && !fits(std::fabs(sum.value));
  }
  const double scaled = std::isfinite(sum.magnitude)
                            ? sum.magnitude
                            : std::fabs(alpha) * sum.finite_sum + sum.finite_added;
  return !fits(sum.finite_sum) || !fits(scaled);
}

/// The rows of most weight, the first of equals, heaviest first.
template <class Weight>
std::vector<Index> heaviest_rows(Index rows, const Weight& weight) {
  constexpr Index kHeaviest = 16;
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  const auto end = order.begin() + std::min(rows, kHeaviest);
  std::partial_sort(order.begin(), end, order.end(), [&](Index x, Index y) {
    return weight(x) != weight(y) ? weight(x) > weight(y) : x < y;
  });
  order.erase(end, order.end());
  return order;
}

/// Those of `rows`, in order, that `budget` pays for.
template <class Cost>
std::vector<Index> affordable_of(const std::vector<Index>& rows, const Cost& cost,
                                 std::uint64_t& budget) {
  std::vector<Index> chosen;
  for (const Index row : rows) {
    const std::uint64_t price = cost(row);
    if (price > budget) continue;
    budget -= price;
    chosen.push_back(row);
  }
  return chosen;
}

/// The rows most likely to be wrong first: the heaviest (they are cut between threads), the first,
/// the last, the last one of any weight, then random ones; those that `budget` pays for, ascending.
template <class Weight, class Cost>
std::vector<Index> rows_to_sample(Index rows, const Weight& weight, const Cost& cost,
                                  Index random_rows, std::uint64_t seed, std::uint64_t& budget) {
  if (rows == 0) return {};
  std::vector<Index> wanted = heaviest_rows(rows, weight);
  Index last_filled = rows - 1;
  while (last_filled > 0 && weight(last_filled) == 0) --last_filled;
  wanted.insert(wanted.end(), {0, rows - 1, last_filled});
  for (Index i = 0; i < random_rows; ++i) {
    const std::uint64_t word = random_word(seed, 1, static_cast<std::uint64_t>(i));
    wanted.push_back(static_cast<Index>(below(word, static_cast<std::uint64_t>(rows))));
  }
  std::vector<bool> is_taken(static_cast<std::size_t>(rows));
  std::vector<Index> distinct;
  for (const Index row : wanted) {
    if (is_taken[static_cast<std::size_t>(row)]) continue;
    is_taken[static_cast<std::size_t>(row)] = true;
    distinct.push_back(row);
  }
  std::vector<Index> chosen = affordable_of(distinct, cost, budget);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// Collects verdicts from many threads; keeps the first failure in row-major order, so that the
/// message does not depend on timing.
class Findings {
 public:
  bool concerns(Index row) const {
    Index first;
#pragma omp atomic read
    first = first_bad_row_;
    return row <= first;
  }

  void fail(Index row, Index col, std::string message) {
#pragma omp critical(csrkit_compare_findings)
    {
      if (row < first_bad_row_ || (row == first_bad_row_ && col < first_bad_col_) ||
          message_.empty()) {
#pragma omp atomic write
        first_bad_row_ = row;
        first_bad_col_ = col;
        message_ = std::move(message);
      }
    }
  }

  void merge_ratio(double ratio) {
#pragma omp critical(csrkit_compare_findings)
    worst_ratio_ = std::max(worst_ratio_, ratio);
  }

  bool failed() const { return !message_.empty(); }

  const std::string& failure() const { return message_; }  // "" if there is none
  double worst_error_ratio() const { return worst_ratio_; }

 private:
  Index first_bad_row_ = std::numeric_limits<Index>::max();
  Index first_bad_col_ = std::numeric_limits<Index>::max();
  double worst_ratio_ = 0;
  std::string message_;
};

}  // namespace csrkit
