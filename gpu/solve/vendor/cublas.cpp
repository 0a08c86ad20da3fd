#include "gpu/solve/vendor/cublas.h"

#include <dlfcn.h>

#include <string>

#include "core/base/error.h"

namespace csrkit::gpu {

namespace {

constexpr Offset kWorkspaceBytes = 32 << 20;  // NVIDIA's recommendation for compute capability 9.0

void* open_library() {
  const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw UsageError("rows vendor_* need " + name +
                     ", which cannot be opened: install cuBLAS or choose another --kernel or "
                     "--product");
  }
  return library;
}

template <class Call>
void find(void* library, const char* name, Call* call) {
  *call = reinterpret_cast<Call>(dlsym(library, name));
  if (*call == nullptr) throw UsageError(std::string("cuBLAS has no ") + name);
}

CublasCalls find_calls() {
  void* const library = open_library();
  CublasCalls calls{};
  find(library, "cublasCreate_v2", &calls.create);
  find(library, "cublasDestroy_v2", &calls.destroy);
  find(library, "cublasSetStream_v2", &calls.set_stream);
  find(library, "cublasSetWorkspace_v2", &calls.set_workspace);
  find(library, "cublasSetAtomicsMode", &calls.set_atomics);
  find(library, "cublasSetPointerMode_v2", &calls.set_pointers);
  find(library, "cublasSgemv_v2", &calls.sgemv);
  find(library, "cublasDgemv_v2", &calls.dgemv);
  find(library, "cublasSsymv_v2", &calls.ssymv);
  find(library, "cublasDsymv_v2", &calls.dsymv);
  find(library, "cublasSdot_v2", &calls.sdot);
  find(library, "cublasDdot_v2", &calls.ddot);
  find(library, "cublasSaxpy_v2", &calls.saxpy);
  find(library, "cublasDaxpy_v2", &calls.daxpy);
  find(library, "cublasSscal_v2", &calls.sscal);
  find(library, "cublasDscal_v2", &calls.dscal);
  return calls;
}

const CublasCalls& opened_calls() {
  static const CublasCalls calls = find_calls();
  return calls;
}

}  // namespace

void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string said = std::string(call) + " failed with status " +
                           std::to_string(static_cast<int>(status)) + " of cuBLAS";
  if (status == CUBLAS_STATUS_ALLOC_FAILED) {
    throw MemoryError("not enough device memory: " + said);
  }
  throw DeviceError(said);
}

Cublas::Cublas(DeviceMemory& memory, cublasPointerMode_t scalars, bool with_atomics)
    : calls_(opened_calls()), workspace_(memory, kWorkspaceBytes, "the workspace of cuBLAS") {
  check_cublas(calls_.create(&handle_), "cublasCreate");
  try {
    check_cublas(calls_.set_stream(handle_, memory.stream()), "cublasSetStream");
    check_cublas(calls_.set_workspace(handle_, workspace_.data(), workspace_.size_bytes()),
                 "cublasSetWorkspace");
    check_cublas(calls_.set_pointers(handle_, scalars), "cublasSetPointerMode");
    check_cublas(calls_.set_atomics(
                     handle_, with_atomics ? CUBLAS_ATOMICS_ALLOWED : CUBLAS_ATOMICS_NOT_ALLOWED),
                 "cublasSetAtomicsMode");
  } catch (...) {
    calls_.destroy(handle_);
    throw;
  }
}

Cublas::~Cublas() { calls_.destroy(handle_); }

}  // namespace csrkit::gpu
