#include "gpu/spmm/likeness.h"

#include <algorithm>
#include <cmath>

namespace csrkit::gpu {

namespace {

/// Fitted to records by tests/gpu/spmm/likeness_test.cpp. One table for each size of elements, so
/// that a choice reads only the matrices that it needs.
#define CSRKIT_WEIGHTS(...)
#define CSRKIT_MEASURED(b_bytes, ...) CSRKIT_OF_##b_bytes(__VA_ARGS__)
#define CSRKIT_OF_2(...) {__VA_ARGS__},
#define CSRKIT_OF_4(...)
#define CSRKIT_OF_8(...)
constexpr MeasuredMatrix kOf2Bytes[] = {
#include "gpu/spmm/likeness.inc"
};
#undef CSRKIT_OF_2
#undef CSRKIT_OF_4
#define CSRKIT_OF_2(...)
#define CSRKIT_OF_4(...) {__VA_ARGS__},
constexpr MeasuredMatrix kOf4Bytes[] = {
#include "gpu/spmm/likeness.inc"
};
#undef CSRKIT_OF_4
#undef CSRKIT_OF_8
#define CSRKIT_OF_4(...)
#define CSRKIT_OF_8(...) {__VA_ARGS__},
constexpr MeasuredMatrix kOf8Bytes[] = {
#include "gpu/spmm/likeness.inc"
};
#undef CSRKIT_OF_2
#undef CSRKIT_OF_4
#undef CSRKIT_OF_8
#undef CSRKIT_MEASURED
#undef CSRKIT_WEIGHTS

template <std::size_t count>
double missed_on(const SpmmProfile& profile, const MeasuredMatrix (&matrices)[count]) {
  const LikenessFacts facts = likeness_facts(profile);
  const WidthPlace place = place_of_width(profile);
  double missed = 0;
  for (const MeasuredMatrix& matrix : matrices) {
    const double alike = likeness(facts, matrix.facts);
    if (alike == 0) continue;
    const double at = matrix.weights[place.from], next = matrix.weights[place.from + 1];
    missed += alike * (at + place.beyond * (next - at));
  }
  return missed;
}

}  // namespace

LikenessFacts likeness_facts(const SpmmProfile& profile) {
  // The distances were chosen by cross-validation, leaving out one matrix at a time.
  constexpr double kSharing = 0.53, kUnlike = 0.26, kMean = 0.79, kRowCount = 2.1, kLongest = 1.6,
                   kOf16 = 1.2, kOf64 = 1.2;
  constexpr double kMuchLonger = 3;
  const double rows = profile.rows, mean = static_cast<double>(profile.nnz) / rows;
  const double longest = std::log(std::max(static_cast<double>(profile.longest) / mean, 1.0));
  const auto fact = [](double value, double distance) {
    return static_cast<float>(value / distance);
  };
  return {fact(std::log(profile.sample.sharing()), kSharing),
          fact(1 - profile.sample.evenness(), kUnlike),
          fact(std::log(mean), kMean),
          fact(std::log(rows), kRowCount),
          fact(std::min(longest, kMuchLonger), kLongest),
          fact(std::log(profile.near.of_16), kOf16),
          fact(std::log(profile.near.of_64), kOf64)};
}

double likeness(const LikenessFacts& one, const LikenessFacts& other) {
  constexpr float kNothing = 20;
  float squares = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    squares += (one[i] - other[i]) * (one[i] - other[i]);
  }
  return squares > kNothing ? 0 : std::exp(-squares / 2);
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
  return profile.b_bytes == 2   ? missed_on(profile, kOf2Bytes)
         : profile.b_bytes == 4 ? missed_on(profile, kOf4Bytes)
                                : missed_on(profile, kOf8Bytes);
}

}  // namespace csrkit::gpu
