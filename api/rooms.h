// Where kernels live: the CPU, which is always there, and the GPU, which may be missing. Tools get
// everything of the GPU from here.
#pragma once

#include <string>
#include <vector>

#include "gpu/face.h"

namespace csrkit {

/// The names of the rooms, as kernels' full names begin.
inline constexpr char kCpu[] = "cpu", kGpu[] = "gpu";

/// Removes `prefix` from the beginning of `text`, if it is there.
bool take_prefix(std::string* text, const std::string& prefix);

/// The name in its table of a kernel in a room: "x" of "x", "cpu.x" and "cpu.spmm.x", as --list
/// shows it; "spmm" is one of `operations`.
std::string name_in_table(const std::string& room, const std::vector<std::string>& operations,
                          const std::string& name);

/// The GPU library, opened when it is first asked for. Null where it is not installed, lacks a
/// library of CUDA, or belongs to another build. Whether there is a GPU shows when a function is
/// called (NoDeviceError).
const gpu::Face* gpu_room();

/// Why there is no GPU library, and what to do: the end of a sentence. Empty where there is one.
const std::string& why_no_gpu_room();

/// The build that a saved plan of a room belongs to: what another one kept might be of the right
/// size and mean something else. Throws NoDeviceError as require_gpu_room does.
std::string build_of_plans(const std::string& room);

/// Throws NoDeviceError, which begins with `what` and says why, where there is no GPU library.
const gpu::Face& require_gpu_room(const std::string& what);

}  // namespace csrkit
