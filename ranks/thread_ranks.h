// Ranks as threads of one process: a rank alone, tests of any number of ranks, and the shape of one
// process that drives several devices.
#pragma once

#include <functional>

#include "ranks/communicator.h"

namespace csrkit::ranks {

/// Runs `body` once for each of `count` ranks, at the same time, each in a thread of its own (one
/// rank alone: in this one). If ranks throw, the others are told (RankLost), and what the first of
/// them threw is thrown here when all have ended.
void run_as_threads(int count, const std::function<void(Communicator&)>& body);

}  // namespace csrkit::ranks
