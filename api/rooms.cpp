#include "api/rooms.h"

#include <dlfcn.h>

#include "core/base/build_id.h"
#include "core/base/error.h"
#include "core/base/own_library.h"

namespace csrkit {

namespace {

struct GpuLibrary {
  const gpu::Face* face = nullptr;
  std::string why_not;
};

/// `reason` is dlerror's: it begins with the name of the library that was not found, ours or one
/// that ours needs.
std::string why_it_cannot_be_opened(const std::string& reason) {
  const bool is_ours = reason.rfind(CSRKIT_GPU_LIBRARY, 0) == 0;
  if (is_ours && !CSRKIT_GPU_CODE) {
    return "this build has no GPU code; build with -DCSRKIT_CUDA=ON, which needs nvcc";
  }
  return reason + (is_ours ? "; install it beside libcsrkit"
                           : "; put CUDA's libraries where the loader looks (LD_LIBRARY_PATH)");
}

/// Looked for beside this library. It stays open: plans hold its functions.
GpuLibrary open_gpu_library() {
  void* const library = open_own_library(CSRKIT_GPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, why_it_cannot_be_opened(dlerror())};
  // POSIX lets dlsym's result be a function.
  const auto entry = reinterpret_cast<gpu::FaceEntry*>(dlsym(library, gpu::kFaceEntry));
  const gpu::Face* const face = entry == nullptr ? nullptr : entry();
  if (face == nullptr || std::string(face->build_id) != build_id()) {
    return {nullptr, std::string(CSRKIT_GPU_LIBRARY) +
                         " is of another build than this program; install both from the same one"};
  }
  return {face, ""};
}

const GpuLibrary& gpu_library() {
  static const GpuLibrary library = open_gpu_library();
  return library;
}

}  // namespace

bool take_prefix(std::string* text, const std::string& prefix) {
  if (text->rfind(prefix, 0) != 0) return false;
  text->erase(0, prefix.size());
  return true;
}

std::string name_in_table(const std::string& room, const std::vector<std::string>& operations,
                          const std::string& name) {
  std::string row = name;
  if (!take_prefix(&row, room + ".")) return row;
  for (const std::string& operation : operations) {
    if (take_prefix(&row, operation + ".")) break;
  }
  return row;
}

const gpu::Face* gpu_room() { return gpu_library().face; }

const std::string& why_no_gpu_room() { return gpu_library().why_not; }

std::string build_of_plans(const std::string& room) {
  return room == kCpu ? build_id() : require_gpu_room("a saved plan").analysis_id;
}

const gpu::Face& require_gpu_room(const std::string& what) {
  if (const gpu::Face* room = gpu_room()) return *room;
  throw NoDeviceError(what + " needs the GPU library: " + why_no_gpu_room());
}

}  // namespace csrkit
