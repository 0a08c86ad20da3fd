#include "tools/probe/steady.h"

#include <algorithm>
#include <limits>

#include "tools/cli/log.h"
#include "tools/cli/report.h"

namespace csrkit {

Samples steady_samples(const std::string& figure, double max_spread,
                       const std::function<Samples()>& take) {
  double least = std::numeric_limits<double>::infinity();
  for (int measurement = 1; measurement <= kMostMeasurements; ++measurement) {
    Samples samples = take();
    if (samples.spread() <= max_spread) return samples;
    least = std::min(least, samples.spread());
    log_debug(figure + ": samples differ by " + fixed(100 * samples.spread(), 0) +
              " %, measured again");
  }
  throw VerifyError("the machine is too busy to be measured: " + figure +
                    ": the middle half of the samples lies " + fixed(100 * least, 0) +
                    " % of the median apart in the best of " + std::to_string(kMostMeasurements) +
                    " measurements, at most " + fixed(100 * max_spread, 0) +
                    " % are allowed; measure on an idle machine, or allow more with --max-spread");
}

}  // namespace csrkit
