// csr-bench: kernels x matrices x settings, one record each, a table at the end; or a bundle of
// records measured again.
#pragma once

#include "tools/bench/options.h"

namespace csrkit {

/// The machine, with its GPU if a case needs one; throws NoDeviceError before hours are spent. A
/// bundle may hold cases of both kinds: without a GPU those that need one are reported as not run.
BenchPlace place_of(const BenchOptions& options);

/// Runs what is not recorded yet. Returns 1 if a case failed; the others are measured all the same.
int run_bench(const BenchOptions& options, const BenchPlace& place);

}  // namespace csrkit
