#include "gpu/device/page_locked_cells.h"

#include <cuda_runtime.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

namespace {

// Never destroyed: at exit the driver may already be gone.
struct FreeCells {
  std::mutex mutex;
  std::vector<void*> cells;
};
FreeCells& free_cells() {
  static auto* cells = new FreeCells;
  return *cells;
}

/// Locking an existing page takes the driver a tenth of the time of allocating a locked one. But on
/// some systems the device has another address for such a page than the host; then the driver must
/// allocate it.
std::byte* locked_page(std::size_t bytes) {
  auto* page = static_cast<std::byte*>(std::aligned_alloc(bytes, bytes));
  if (page == nullptr) throw std::bad_alloc();
  cudaError_t status =
      cudaHostRegister(page, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  void* of_device = nullptr;
  if (status == cudaSuccess) status = cudaHostGetDevicePointer(&of_device, page, 0);
  if (status == cudaSuccess && of_device == page) return page;
  CHECK_CUDA_NOEXCEPT(cudaHostUnregister(page));
  std::free(page);
  CHECK_CUDA(status);
  CHECK_CUDA(cudaHostAlloc(&page, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
  return page;
}

}  // namespace

void* PageLockedCells::take() {
  constexpr std::size_t kAtOnce = 4, kPage = kAtOnce * kBytes;
  FreeCells& free = free_cells();
  const std::lock_guard<std::mutex> lock(free.mutex);
  if (free.cells.empty()) {
    free.cells.reserve(free.cells.capacity() + kAtOnce);  // give_back must not throw
    std::byte* const page = locked_page(kPage);
    for (std::size_t i = 0; i < kAtOnce; ++i) free.cells.push_back(page + i * kBytes);
  }
  void* cell = free.cells.back();
  free.cells.pop_back();
  return cell;
}

void* PageLockedCells::take_if_it_pays() {
  constexpr int kTooFew = 10;
  static std::atomic<int> asked{0};
  if (asked.load(std::memory_order_relaxed) < kTooFew && asked.fetch_add(1) < kTooFew) {
    return nullptr;
  }
  return take();
}

void PageLockedCells::give_back(void* cell) noexcept {
  FreeCells& free = free_cells();
  const std::lock_guard<std::mutex> lock(free.mutex);
  free.cells.push_back(cell);
}

}  // namespace csrkit::gpu
