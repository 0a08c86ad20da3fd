// Ranks of csr-spmm-dist on GPUs: which one each has, and how rows of B travel.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ranks/device_spmm.h"
#include "ranks/placement.h"
#include "tools/ranks/gpu_seats.h"
#include "tools/ranks/spmm_options.h"

namespace csrkit {

struct GpuPlace {
  GpuSeat seat;
  HaloWay way = HaloWay::peer;
  std::string way_choice;
};

/// All ranks together. Throws UsageError where there are not enough GPUs, or no way between them.
GpuPlace choose_gpu(const SpmmDistOptions& options, ranks::Communicator& communicator,
                    const std::vector<ranks::Place>& places);

std::unique_ptr<ranks::SpmmRank> gpu_rank(const SpmmDistOptions& options,
                                          ranks::Communicator& communicator, const GpuPlace& gpu,
                                          RankPart part, const SpmmProblem& problem,
                                          const PlanOptions& plan);

}  // namespace csrkit
