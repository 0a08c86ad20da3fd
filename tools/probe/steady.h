// When a figure is a machine's, and not what other work left of it.
#pragma once

#include <functional>
#include <string>

#include "core/base/error.h"
#include "tools/operation/product/measure.h"

namespace csrkit {

/// So often is a figure measured before it is given up.
constexpr int kMostMeasurements = 10;

/// The first samples of `take` whose spread is at most `max_spread`, of at most kMostMeasurements
/// calls. Throws VerifyError if there are none: it names `figure`, the least spread that was seen
/// and the limit.
Samples steady_samples(const std::string& figure, double max_spread,
                       const std::function<Samples()>& take);

/// Steady figures that contradict each other: the machine changed between them.
struct ContradictionError : VerifyError {
  using VerifyError::VerifyError;
};

}  // namespace csrkit
