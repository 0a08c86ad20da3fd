// Products that one GPU cannot hold: how they are asked for, how they are cut, in records and
// forecasts, and what their copies take.
#pragma once

#include <vector>

#include "core/contract/out_of_core.h"
#include "tools/cli/json.h"
#include "tools/cli/options.h"
#include "tools/operation/product/request.h"
#include "tools/operation/product/run.h"

namespace csrkit {

/// Of csr-spmm-gpu.
std::vector<OptionRow> out_of_core_options();
/// What csr-spmm-gpu and its forecast are told by these options. Throws UsageError.
void read_out_of_core(const Options& options, Request* request);

/// What is known before the first product.
Json plan_facts(const OutOfCoreReport& report);

/// What travelled, and how near a product comes to what copies alone take. The product is the one
/// that `outcome` has samples of, else the report's. `maps_b`, `maps_c`: whether B and C are used
/// in their files.
void add_copies(OutOfCoreReport report, bool maps_b, bool maps_c, Outcome* outcome);

}  // namespace csrkit
