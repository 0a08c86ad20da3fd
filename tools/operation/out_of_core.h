// How a product is cut that one GPU cannot hold, in records and forecasts.
#pragma once

#include "core/contract/out_of_core.h"
#include "tools/cli/json.h"

namespace csrkit {

/// What is known before the first product.
Json plan_facts(const OutOfCoreReport& report);

}  // namespace csrkit
