// All ranks that one process drives, one product after the other: what is queued when, in one CUDA
// graph over all of their GPUs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/device_ranks.h"
#include "gpu/ranks/nccl.h"

namespace csrkit::gpu {

/// A product of the largest matrices takes a second: an exchange that is silent for so long waits
/// for a rank that is gone.
inline constexpr double kSilenceSeconds = 20;

std::unique_ptr<DeviceRank> make_device_rank(const DeviceShare& share, const std::string& kernel,
                                             const PlanOptions& options);

std::unique_ptr<DeviceRanks> join_device_ranks(const std::vector<DeviceRank*>& ranks, int all,
                                               HaloWay way, const std::vector<std::string>& told);
/// The same with an NCCL of the caller's, and after so many seconds a rank of another process that
/// does not come is given up; for tests.
std::unique_ptr<DeviceRanks> join_device_ranks(const std::vector<DeviceRank*>& ranks, int all,
                                               HaloWay way, const std::vector<std::string>& told,
                                               const NcclLibrary* nccl,
                                               double silence_seconds = kSilenceSeconds);

/// From here on kernels of `device` may read what cudaMalloc gave of `other`. Throws UsageError if
/// they cannot.
void let_read(int device, int other);

/// The functions of DeviceRankMakers.
std::string new_nccl_id();
std::vector<std::string> device_addresses();
std::string why_no_peers(const std::vector<int>& devices);

}  // namespace csrkit::gpu
