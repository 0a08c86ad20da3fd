#include "gpu/device/page_locked_memory.h"

#include <cuda_runtime.h>
#include <sys/mman.h>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/huge_pages.h"
#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

namespace {

MemoryError no_room(std::uint64_t bytes, const char* who) {
  return MemoryError("no room for " + counted(bytes, "byte") +
                     " of page-locked host memory: " + who + " refused");
}

}  // namespace

PageLockedMemory::PageLockedMemory(std::uint64_t bytes, int threads) {
  if (bytes == 0) return;
  void* const data =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw no_room(bytes, "the system");
  data_ = data;
  bytes_ = bytes;
  make_pages(data, bytes, threads);
  const cudaError_t status = cudaHostRegister(data, bytes, cudaHostRegisterPortable);
  if (status == cudaSuccess) return;
  ::munmap(data, bytes);
  data_ = nullptr;
  if (status != cudaErrorMemoryAllocation) CHECK_CUDA(status);
  static_cast<void>(cudaGetLastError());
  throw no_room(bytes, "the driver");
}

PageLockedMemory::~PageLockedMemory() {
  if (data_ == nullptr) return;
  CHECK_CUDA_NOEXCEPT(cudaHostUnregister(data_));
  ::munmap(data_, bytes_);
}

}  // namespace csrkit::gpu
