// How many times faster: ratios of times, with the interval that tells a gain from noise.
#pragma once

#include "tools/cli/json.h"
#include "tools/operation/product/measure.h"

namespace csrkit {

/// With a confidence of 95 % the true ratio lies in the interval. `value` is 0 where there are no
/// times to divide.
struct Ratio {
  double value = 0;
  Interval interval;

  /// The samples do not tell which is the faster one.
  bool is_level() const { return interval.low <= 1 && interval.high >= 1; }
};

/// The samples that a record holds.
Samples samples_of(const Json& record);

/// The median of `above[i] / below[i]`, of samples that were taken in turn.
Ratio ratio_of_pairs(const Samples& above, const Samples& below);

/// The ratio of the medians of samples taken independently. The relative half-widths of their
/// intervals add up as squares, on the scale of logarithms.
Ratio ratio_of_medians(const Samples& above, const Samples& below);

/// How many times faster the record `own` is than `base`: of pairs if both were measured in the
/// same rounds, else of medians.
Ratio speed_against(const Json& base, const Json& own);

}  // namespace csrkit
