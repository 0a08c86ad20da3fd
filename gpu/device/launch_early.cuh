// Programmatic dependent launch: a kernel starts while the one before it in the stream still runs,
// which hides the launch latency. Below compute capability 9.0 it starts when the other is done.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <iterator>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

/// In a kernel launched early: waits until the results of the kernels before it can be read. All
/// its blocks must call it: a later kernel waits for this one, and so for those before it.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// The next kernel, if it is launched early, may start once all blocks of this one have called this
/// or have ended.
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), dim3 grid, unsigned threads,
                  std::size_t shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
  constexpr int kFirstMajor = 9, kCompiledFor[] = {__CUDA_ARCH_LIST__};  // 900, ascending
  constexpr bool kHasWaits = kCompiledFor[std::size(kCompiledFor) - 1] >= 100 * kFirstMajor;
  int device = 0, major = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = kHasWaits && major >= kFirstMajor ? 1 : 0;
  CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

}  // namespace csrkit::gpu
