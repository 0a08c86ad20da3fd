// Which GPU each rank has: those of one host take its GPUs in their order.
#pragma once

#include <string>
#include <vector>

#include "ranks/placement.h"

namespace csrkit {

struct GpuSeat {
  int device = 0;  // among those that the process sees
  std::string address;
  std::string shared;        // which ranks share one; "" if none
  std::vector<int> devices;  // of all ranks
};

/// All ranks together. Throws UsageError where there are not enough GPUs, unless ranks of this
/// process may share them; NoDeviceError.
GpuSeat take_gpu(ranks::Communicator& communicator, const std::vector<ranks::Place>& places,
                 bool may_share);

}  // namespace csrkit
