// What the judges of core/judge/compare.h have in common; for compare*.cpp only.
#pragma once

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "core/base/types.h"

namespace csrkit {

inline constexpr double kDoubleRoundoff = 0x1p-53;

/// gamma(m) = m u / (1 - m u), or 2 m u where that is no bound (see compare.h).
inline double gamma_of(double roundings, double unit) {
  const double mu = roundings * unit;
  return mu <= 0.5 ? mu / (1 - mu) : 2 * mu;
}

inline std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
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
