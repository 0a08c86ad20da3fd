// csr-bench --verify: a bundle of records is measured again, case by case, and judged.
#pragma once

#include <string>

#include "tools/bench/options.h"
#include "tools/operation/product/measure.h"

namespace csrkit {

/// What a second measurement says about the first.
struct Verdict {
  std::string word;   // SAME, FAST (the new one is faster), SLOW, AMBIGUOUS
  double ratio = 0;   // new median / recorded median
  Interval interval;  // of the ratio, 95 % confidence
};

/// SAME if the whole interval of the ratio lies within 1 / (1 + tolerance) .. 1 + tolerance, FAST
/// or SLOW if the whole interval lies beyond it, else AMBIGUOUS. A difference of less than a
/// microsecond is beyond what clocks tell apart, and within the tolerance always. The interval
/// comes from those of both medians (see Samples::median_interval), which are independent.
Verdict verdict_of(const Samples& recorded, const Samples& now, double tolerance);

/// The cases of the bundle, measured again where it can be done; the last record of a case counts.
/// Returns 1 if a case is SLOW, fails now, or could not be run.
int run_verify(const BenchOptions& options, const BenchPlace& place);

}  // namespace csrkit
