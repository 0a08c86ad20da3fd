// One launch over the rows of a bin.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Blocks of kThreads, kThreads / kLanes items each, with `bytes` of shared memory per item. More
/// than 48 KiB of a block must be asked for; asking again costs a microsecond.
template <int kThreads, int kLanes, class Kernel, class... Arguments>
void launch_rows(Kernel kernel, const char* name, Offset items, int bytes, cudaStream_t stream,
                 const Arguments&... arguments) {
  constexpr int kItems = kThreads / kLanes;
  const int shared_bytes = kItems * bytes;
  if (shared_bytes > 16 * 1024) {  // up to 28 KiB are static
    CHECK_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  }
  const auto blocks = checked_cast<unsigned>((items + kItems - 1) / kItems, name);
  kernel<<<blocks, kThreads, static_cast<std::size_t>(shared_bytes), stream>>>(arguments...);
  CHECK_LAUNCH("a kernel of adaptive_rows", stream);
}

}  // namespace csrkit::gpu
