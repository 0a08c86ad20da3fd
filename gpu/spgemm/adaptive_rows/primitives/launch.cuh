// One launch over the rows of a bin.
#pragma once

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/spgemm/adaptive_rows/rules/rules.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Launches blocks of kThreads for kThreads / kLanes items each, with `bytes` of shared memory per
/// item. More than 48 KiB a block need cudaFuncSetAttribute, which belongs to the kernel, not to
/// the launch. Two host threads may launch one kernel with different sizes at once, so every launch
/// sets the same maximum. That costs a microsecond.
template <int kThreads, int kLanes, class Kernel, class... Arguments>
void launch_rows(Kernel kernel, const char* name, Offset items, int bytes, cudaStream_t stream,
                 const Arguments&... arguments) {
  constexpr int kItems = kThreads / kLanes;
  const int shared_bytes = kItems * bytes;
  if (shared_bytes > 48 * 1024 - kMostStaticBytes) {
    // A kernel that needs more than kMostStaticBytes leave free needs the same in every launch.
    const int most = std::max(current_shared_bytes() - kMostStaticBytes, shared_bytes);
    CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  }
  const auto blocks = checked_cast<unsigned>((items + kItems - 1) / kItems, name);
  kernel<<<blocks, kThreads, static_cast<std::size_t>(shared_bytes), stream>>>(arguments...);
  CHECK_LAUNCH("a kernel of adaptive_rows", stream);
}

}  // namespace csrkit::gpu
