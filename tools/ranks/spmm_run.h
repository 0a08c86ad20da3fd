// csr-spmm-dist on one rank: read, check, measure, write.
#pragma once

#include "tools/ranks/spmm_options.h"

namespace csrkit {

/// All ranks call it. Rank 0 prints.
void run_spmm_dist(const SpmmDistOptions& options, ranks::Communicator& communicator);

}  // namespace csrkit
