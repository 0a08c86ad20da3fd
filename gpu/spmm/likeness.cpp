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
#define CSRKIT_WEIGHTS(...)
#define CSRKIT_MEASURED(b_bytes, ...) {b_bytes, {__VA_ARGS__}},
#include "gpu/spmm/likeness.inc"
#undef CSRKIT_MEASURED
#undef CSRKIT_WEIGHTS
};

}  // namespace

LikenessFacts likeness_facts(const SpmmProfile& profile) {
  // The distances were chosen by how matrices fare that are left out in turn.
  constexpr double kSharing = 0.53, kUnlike = 0.26, kMean = 0.79, kRowCount = 2.1, kLongest = 1.6,
                   kOf16 = 1.2, kOf64 = 1.2;
  constexpr double kMuchLonger = 3;
  const double rows = profile.rows, mean = static_cast<double>(profile.nnz) / rows;
  const double longest = std::log(std::max(static_cast<double>(profile.longest) / mean, 1.0));
  return {std::log(profile.sample.sharing()) / kSharing,
          (1 - profile.sample.evenness()) / kUnlike,
          std::log(mean) / kMean,
          std::log(rows) / kRowCount,
          std::min(longest, kMuchLonger) / kLongest,
          std::log(profile.near.of_16) / kOf16,
          std::log(profile.near.of_64) / kOf64};
}

double likeness(const LikenessFacts& one, const LikenessFacts& other) {
  double squares = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    squares += (one[i] - other[i]) * (one[i] - other[i]);
  }
  return std::exp(-squares / 2);
}

WidthPlace place_of_width(const SpmmProfile& profile) {
  const auto between = [&](double narrowest, double widest, std::size_t first, std::size_t count) {
    const double steps = static_cast<double>(count) - 1;
    const double place =
        steps * std::clamp(std::log(profile.dense_cols / narrowest) / std::log(widest / narrowest),
                           0.0, 1.0);
    const double from = std::min(std::floor(place), steps - 1);
    return WidthPlace{first + static_cast<std::size_t>(from), place - from};
  };
  return profile.has_pieces() ? between(41, 127, kLikenessWidths, kLikenessOddWidths)
                              : between(8, 256, 0, kLikenessWidths);
}

double missed_by_formula(const SpmmProfile& profile) {
  const LikenessFacts facts = likeness_facts(profile);
  const WidthPlace place = place_of_width(profile);
  double missed = 0;
  for (const Row& row : kRows) {
    if (row.b_bytes != profile.b_bytes) continue;
    const double* const weight = &row.matrix.weights[place.from];
    missed +=
        likeness(facts, row.matrix.facts) * (weight[0] + place.beyond * (weight[1] - weight[0]));
  }
  return missed;
}

}  // namespace csrkit::gpu
