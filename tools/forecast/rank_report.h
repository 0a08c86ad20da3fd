// csr-forecast --ranks: every grid of so many ranks, and the best one.
#pragma once

#include "tools/cli/options.h"

namespace csrkit {

void declare_rank_options(Options& options);

/// Reads the options, counts the parts that the file does not hold, forecasts, prints. Throws
/// UsageError.
void report_rank_forecast(const Options& options);

}  // namespace csrkit
