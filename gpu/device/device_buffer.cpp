#include "gpu/device/device_buffer.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

namespace {

// One pool per device for the life of the process. It is never destroyed: at exit the driver may
// already be gone, and takes the memory with it.
cudaMemPool_t pool_of(int device) {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = pools.find(device);
  if (found != pools.end()) return found->second;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  CHECK_CUDA(cudaMemPoolCreate(&pool, &properties));
  // Freed memory stays in the pool until `trim`, so that plans made one after another are cheap.
  std::uint64_t keep_everything = UINT64_MAX;
  CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_everything));
  pools.emplace(device, pool);
  return pool;
}

// Free memory on the device, the unused part of the pool included.
std::uint64_t free_bytes_of(int device) {
  std::size_t free_bytes = 0, total_bytes = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  std::uint64_t reserved = 0, used = 0;
  const cudaMemPool_t pool = pool_of(device);
  CHECK_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  CHECK_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  return free_bytes + (reserved - std::min(reserved, used));
}

}  // namespace

DeviceMemory::DeviceMemory(int device, cudaStream_t stream, std::uint64_t limit_bytes)
    : device_(device), stream_(stream), limit_bytes_(limit_bytes) {}

bool DeviceMemory::is_within_limit(std::uint64_t bytes) const {
  return limit_bytes_ == 0 || (used_bytes_ <= limit_bytes_ && bytes <= limit_bytes_ - used_bytes_);
}

bool DeviceMemory::has(std::uint64_t bytes) const {
  return is_within_limit(bytes) && bytes <= free_bytes_of(device_);
}

void DeviceMemory::require(std::uint64_t bytes, const std::string& what) const {
  const std::uint64_t free_bytes = free_bytes_of(device_);
  const bool within_limit = is_within_limit(bytes);
  if (within_limit && bytes <= free_bytes) return;
  throw MemoryError(
      "no room for " + what + " (" + counted(bytes, "byte") + " of device memory, beside " +
      std::to_string(used_bytes_) + " in use): the limit is " +
      (limit_bytes_ == 0 ? std::string("what is free") : counted(limit_bytes_, "byte")) +
      ", free on the device are " + std::to_string(free_bytes) + "; " +
      (within_limit
           ? "use another GPU, or make the problem smaller: a narrower --value-kind, fewer "
             "--dense-cols at a time"
           : "raise --memory-limit, or make the problem smaller"));
}

std::uint64_t DeviceMemory::available_bytes() const {
  const std::uint64_t free_bytes = free_bytes_of(device_);
  if (limit_bytes_ == 0) return free_bytes;
  return std::min(free_bytes, limit_bytes_ - std::min(limit_bytes_, used_bytes_));
}

void* DeviceMemory::allocate(std::uint64_t bytes, const char* what) {
  if (limit_bytes_ != 0) require(bytes, what);
  void* data = nullptr;
  const cudaMemPool_t pool = pool_of(device_);
  cudaError_t status = cudaMallocFromPoolAsync(&data, bytes, pool, stream_);
  if (status == cudaErrorMemoryAllocation) {
    // What is free may be in pieces that are too small: give all of it back to the driver once.
    static_cast<void>(cudaGetLastError());
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    CHECK_CUDA(cudaMemPoolTrimTo(pool, 0));
    status = cudaMallocFromPoolAsync(&data, bytes, pool, stream_);
  }
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw MemoryError(std::string("no room for ") + what + " (" + counted(bytes, "byte") +
                      " of device memory): the device refused, with " +
                      counted(free_bytes_of(device_), "byte") + " free");
  }
  CHECK_CUDA(status);
  used_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return data;
}

void DeviceMemory::release(void* data, std::uint64_t bytes) noexcept {
  used_bytes_ -= bytes;
  CHECK_CUDA_NOEXCEPT(cudaFreeAsync(data, stream_));
}

}  // namespace csrkit::gpu
