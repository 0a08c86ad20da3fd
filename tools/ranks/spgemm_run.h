// csr-spgemm-dist on one rank: read, fetch, multiply, check, write.
#pragma once

#include "ranks/communicator.h"
#include "tools/ranks/spgemm_options.h"

namespace csrkit {

/// All ranks call it. Rank 0 prints.
void run_spgemm_dist(const SpgemmDistOptions& options, ranks::Communicator& communicator);

}  // namespace csrkit
