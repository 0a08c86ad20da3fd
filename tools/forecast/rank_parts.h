// The parts that the grids of csr-forecast --ranks need.
#pragma once

#include <map>
#include <set>

#include "tools/cli/options.h"
#include "tools/forecast/rank_forecast.h"

namespace csrkit {

/// The levels that the file named first in `options` holds, and those of `wanted` that it lacks,
/// counted as contiguous blocks of its rows. Only for those are its entries read;
/// `count_seconds` gets what that took. Throws InputError, IoError.
std::map<Index, CountedParts> parts_for(const Options& options, const RankSizes& sizes,
                                        const std::set<Index>& wanted, double* count_seconds);

}  // namespace csrkit
