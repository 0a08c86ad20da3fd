// One launch over the rows of a bin.
#pragma once

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/spgemm/adaptive_rows/rules.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Blocks of kThreads, kThreads / kLanes items each, with `bytes` of shared memory per item. More
/// than 48 KiB of a block must be asked for, of the kernel and not of the launch: two threads of a
/// host may launch one kernel with more and with less at once, so both ask for the same. Asking
/// again costs a microsecond.
template <int kThreads, int kLanes, class Kernel, class... Arguments>
void launch_rows(Kernel kernel, const char* name, Offset items, int bytes, cudaStream_t stream,
                 const Arguments&... arguments) {
  constexpr int kItems = kThreads / kLanes;
  const int shared_bytes = kItems * bytes;
  if (shared_bytes > 48 * 1024 - kMostStaticBytes) {
    // A kernel that takes more than kMostStaticBytes leave takes as much in every launch.
    const int most = std::max(current_shared_bytes() - kMostStaticBytes, shared_bytes);
    CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  }
  const auto blocks = checked_cast<unsigned>((items + kItems - 1) / kItems, name);
  kernel<<<blocks, kThreads, static_cast<std::size_t>(shared_bytes), stream>>>(arguments...);
  CHECK_LAUNCH("a kernel of adaptive_rows", stream);
}

}  // namespace csrkit::gpu
