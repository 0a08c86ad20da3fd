// How a product is cut that one GPU cannot hold, for reports.
#pragma once

#include <string>

#include "core/contract/out_of_core_forecast.h"
#include "tools/cli/json.h"

namespace csrkit {

/// The choice as csr-spmm-gpu says it, and what moves.
std::string words_of(const OutOfCoreForecast& forecast);

/// With the keys of csr-spmm-gpu's record.
Json to_json(const OutOfCoreForecast& forecast);

}  // namespace csrkit
