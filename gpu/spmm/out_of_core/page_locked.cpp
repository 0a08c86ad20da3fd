#include "gpu/spmm/out_of_core/page_locked.h"

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/huge_pages.h"
#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kStretch = std::uint64_t{1} << 30;  // each thread has some of the pages

MemoryError no_room(std::uint64_t bytes, const char* who) {
  return MemoryError("no room for " + counted(bytes, "byte") + " of page-locked host memory: " +
                     who + " refused; multiply without --panel-major");
}

/// A byte of every page is written: the system makes it, on the thread that asks.
void touch(std::byte* data, std::uint64_t bytes, int threads) {
  const auto count = std::max<std::uint64_t>(
      std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), bytes / kStretch), 1);
  const std::uint64_t each = (bytes / count + kPage - 1) / kPage * kPage;
  const auto work = [&](std::uint64_t part) {
    const std::uint64_t end = std::min(bytes, (part + 1) * each);
    for (std::uint64_t at = part * each; at < end; at += kPage) data[at] = std::byte{0};
  };
  std::vector<std::thread> others;
  for (std::uint64_t part = 1; part < count; ++part) others.emplace_back(work, part);
  work(0);
  for (std::thread& other : others) other.join();
}

}  // namespace

PageLockedMemory::PageLockedMemory(std::uint64_t bytes, int threads) {
  if (bytes == 0) return;
  void* const data =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw no_room(bytes, "the system");
  data_ = data;
  bytes_ = bytes;
  advise_huge_pages(data, bytes);
  touch(this->data(), bytes, threads);
  const cudaError_t status = cudaHostRegister(data, bytes, cudaHostRegisterDefault);
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
