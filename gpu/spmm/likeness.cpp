#include "gpu/spmm/likeness.h"

#include <algorithm>
#include <cmath>

namespace csrkit::gpu {

namespace {

struct Row {
  int b_bytes;
  MeasuredMatrix matrix;
};
/// Made of records by tests/gpu/spmm/likeness_test.cpp.
constexpr Row kRows[] = {
#define CSRKIT_MEASURED(b_bytes, ...) {b_bytes, {__VA_ARGS__}},
#include "gpu/spmm/likeness.inc"
#undef CSRKIT_MEASURED
};

/// Whether rows of B and C are as those of the products in the table.
bool has_measured_rows(const SpmmProfile& profile) {
  constexpr Index kFewColumns = 8;
  constexpr Offset kSectorBytes = 32;
  if (profile.is_off_vectors) return false;
  return profile.dense_cols <= kFewColumns ||
         Offset{profile.dense_cols} * profile.b_bytes % kSectorBytes == 0;
}

}  // namespace

LikenessFacts likeness_facts(const SpmmProfile& profile) {
  // The distances were chosen by how matrices fare that are left out in turn.
  constexpr double kSharing = 0.44, kUnlike = 0.22, kMean = 0.66, kRowCount = 1.76, kLongest = 1.32;
  constexpr double kMuchLonger = 3;
  const double rows = profile.rows, mean = static_cast<double>(profile.nnz) / rows;
  const double longest = std::log(std::max(static_cast<double>(profile.longest_seen) / mean, 1.0));
  return {std::log(profile.sample.sharing()) / kSharing, (1 - profile.sample.evenness()) / kUnlike,
          std::log(mean) / kMean, std::log(rows) / kRowCount,
          std::min(longest, kMuchLonger) / kLongest};
}

double likeness(const LikenessFacts& one, const LikenessFacts& other) {
  double squares = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    squares += (one[i] - other[i]) * (one[i] - other[i]);
  }
  return std::exp(-squares / 2);
}

double place_of_width(Index dense_cols) {
  constexpr double kNarrowest = 8;
  return std::clamp(std::log2(dense_cols / kNarrowest), 0.0, kLikenessWidths - 1.0);
}

double missed_by_formula(const SpmmProfile& profile) {
  if (!has_measured_rows(profile)) return 0;
  const LikenessFacts facts = likeness_facts(profile);
  const double place = place_of_width(profile.dense_cols);
  const std::size_t from =
      std::min(static_cast<std::size_t>(place), std::size_t{kLikenessWidths - 2});
  const double beyond = place - static_cast<double>(from);
  double missed = 0;
  for (const Row& row : kRows) {
    if (row.b_bytes != profile.b_bytes) continue;
    const WidthWeights& weights = row.matrix.weights;
    missed += likeness(facts, row.matrix.facts) *
              (weights[from] + beyond * (weights[from + 1] - weights[from]));
  }
  return missed;
}

}  // namespace csrkit::gpu
