#include "gpu/device/page_locked.h"

#include <cuda_runtime.h>

#include <atomic>
#include <mutex>
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

}  // namespace

void* PageLockedCells::take() {
  constexpr std::size_t kAtOnce = 16;  // a page
  FreeCells& free = free_cells();
  const std::lock_guard<std::mutex> lock(free.mutex);
  if (free.cells.empty()) {
    free.cells.reserve(free.cells.capacity() + kAtOnce);  // give_back must not throw
    std::byte* page = nullptr;
    CHECK_CUDA(cudaHostAlloc(&page, kAtOnce * kBytes, cudaHostAllocPortable | cudaHostAllocMapped));
    for (std::size_t i = 0; i < kAtOnce; ++i) free.cells.push_back(page + i * kBytes);
  }
  void* cell = free.cells.back();
  free.cells.pop_back();
  return cell;
}

void* PageLockedCells::take_if_it_pays() {
  constexpr int kTooFew = 100;
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
