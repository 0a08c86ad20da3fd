#include "gpu/face.h"

#include <csrkit_analysis_id.h>  // made at build time
#include <csrkit_build_id.h>     // made at build time

#include <memory>

#include "gpu/device/timing/copy_bandwidth.h"
#include "gpu/plan/kernels.h"
#include "gpu/ranks/far_memory.h"
#include "gpu/ranks/links.h"
#include "gpu/ranks/ranks.h"
#include "gpu/spgemm/forecast.h"
#include "gpu/spmm/forecast.h"
#include "gpu/spmm/out_of_core/forecast.h"
#include "gpu/spmm/out_of_core/plan.h"

namespace csrkit::gpu {

namespace {

std::function<DeviceClocks()> clock_reader(int ordinal) {
  const auto reader = std::make_shared<const ClockReader>(ordinal);
  return [reader] { return reader->read(); };
}

constexpr Face kFace{CSRKIT_BUILD_ID,
                     CSRKIT_ANALYSIS_ID,
                     spmm_kernels,
                     spmm_marks,
                     spmv_kernels,
                     spgemm_kernels,
                     sddmm_kernels,
                     solve_kernels,
                     forecast_spmm_bytes,
                     forecast_spmv_bytes,
                     make_out_of_core_spmm,
                     forecast_out_of_core_spmm,
                     forecast_spgemm,
                     device_info,
                     copy_seconds,
                     clock_reader,
                     fill_sums,
                     {make_device_rank, join_device_ranks, new_nccl_id, device_addresses,
                      why_no_peers, sample_memory, why_not_read, why_no_nccl, make_device_links}};

}  // namespace

}  // namespace csrkit::gpu

const csrkit::gpu::Face* csrkit_gpu_face() { return &csrkit::gpu::kFace; }
