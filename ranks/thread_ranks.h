// Ranks as threads of one process: for a rank alone, for tests of any number of ranks, and for one
// process that drives several devices.
#pragma once

#include <functional>

#include "ranks/communicator.h"

namespace csrkit::ranks {

/// Runs `body` once for each of `count` ranks, at the same time, each in a thread of its own (one
/// rank alone: in this one). If a rank throws, the others get RankLost, and when all have ended the
/// exception of the first rank that failed by itself is thrown here.
void run_as_threads(int count, const std::function<void(Communicator&)>& body);

}  // namespace csrkit::ranks
