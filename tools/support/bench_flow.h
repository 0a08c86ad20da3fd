// The benchmark: every case through multiply_flow, one record each, a table at the end.
#pragma once

#include "tools/support/bench_options.h"

namespace csrkit {

/// Runs what is not recorded yet. Returns 1 if a case failed; the others are measured all the same.
int run_bench(const BenchOptions& options, const BenchPlace& place);

}  // namespace csrkit
