#include "tools/operation/rooms.h"

#include <dlfcn.h>

#include "core/base/build_id.h"
#include "core/base/error.h"
#include "tools/cli/log.h"

namespace csrkit {

namespace {

/// Looked for where the program's own libraries are. It stays open: plans hold its functions.
const gpu::Face* open_gpu_library() {
  void* const library = dlopen(CSRKIT_GPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    log_debug(std::string("no GPU library: ") + dlerror());
    return nullptr;
  }
  // POSIX lets dlsym's result be a function.
  const auto entry = reinterpret_cast<gpu::FaceEntry*>(dlsym(library, gpu::kFaceEntry));
  const gpu::Face* const face = entry == nullptr ? nullptr : entry();
  if (face == nullptr || std::string(face->build_id) != build_id()) {
    log_warning(std::string(CSRKIT_GPU_LIBRARY) +
                " is of another build and is not used; install both from the same one");
    return nullptr;
  }
  return face;
}

}  // namespace

const gpu::Face* gpu_room() {
  static const gpu::Face* const face = open_gpu_library();
  return face;
}

const gpu::Face& require_gpu_room(const std::string& what) {
  if (const gpu::Face* room = gpu_room()) return *room;
  throw UsageError(what + " needs a GPU build, and this one was made without CUDA");
}

}  // namespace csrkit
