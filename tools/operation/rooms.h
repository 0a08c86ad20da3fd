// Where kernels live: the CPU, which is always there, and the GPU, which may not be. Whatever a
// tool wants of the GPU it gets here.
#pragma once

#include <string>

#include "gpu/face.h"

namespace csrkit {

/// The names of the rooms, as kernels' full names begin.
inline constexpr char kCpu[] = "cpu", kGpu[] = "gpu";

/// The GPU library, opened when it is first asked for. Null where it is not installed, or belongs
/// to another build. Whether there is a GPU shows when a function is called (NoDeviceError).
const gpu::Face* gpu_room();

/// Throws UsageError, which begins with `what`, where there is no GPU library.
const gpu::Face& require_gpu_room(const std::string& what);

}  // namespace csrkit
