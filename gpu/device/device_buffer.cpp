#include "gpu/device/device_buffer.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/streams/stream.h"

namespace csrkit::gpu {

namespace {

/// In its scope this thread may allocate although another thread captures a stream: by default CUDA
/// forbids that.
class RelaxedCapture {
 public:
  RelaxedCapture() { CHECK_CUDA_NOEXCEPT(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { CHECK_CUDA_NOEXCEPT(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Hands out a device's memory for the life of the process. Never destroyed: at exit the driver may
/// already be gone, and the memory with it.
class Source {
 public:
  static Source& of(int device) {
    static std::mutex mutex;
    static auto* const sources = new std::map<int, Source>;
    const std::lock_guard<std::mutex> lock(mutex);
    return sources->try_emplace(device, device).first->second;
  }
  explicit Source(int device) : device_(device) {}

  /// The first allocation from any pool takes the driver 7 to 9 ms, a first cudaMalloc 0.1 ms. So
  /// the first allocations, as many as one plan and its operands need, use cudaMalloc. From more of
  /// them on, the pool pays.
  cudaError_t allocate(void** data, std::uint64_t bytes, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pool_ == nullptr && given_ < without_pool_.size()) {
      const DeviceScope scope(device_);
      const RelaxedCapture relaxed;
      const cudaError_t status = cudaMalloc(data, bytes);
      if (status == cudaSuccess) without_pool_[given_++] = *data;
      return status;
    }
    if (pool_ == nullptr) make_pool();
    return cudaMallocFromPoolAsync(data, bytes, pool_, stream);
  }

  void release(void* data, cudaStream_t stream) noexcept {
    if (!forget(data)) {
      CHECK_CUDA_NOEXCEPT(cudaFreeAsync(data, stream));
      return;
    }
    const RelaxedCapture relaxed;
    CHECK_CUDA_NOEXCEPT(cudaFree(data));  // waits for all work on the device
  }

  /// Returns unused memory to the driver.
  void trim() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pool_ != nullptr) CHECK_CUDA(cudaMemPoolTrimTo(pool_, 0));
  }

  std::uint64_t unused_bytes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pool_ == nullptr) return 0;
    std::uint64_t reserved = 0, used = 0;
    CHECK_CUDA(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved));
    CHECK_CUDA(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used));
    return reserved - std::min(reserved, used);
  }

 private:
  void make_pool() {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device_;
    cudaMemPool_t pool = nullptr;
    CHECK_CUDA(cudaMemPoolCreate(&pool, &properties));
    // Freed memory stays in the pool until `trim`, so that plans made one after another are cheap.
    std::uint64_t keep_everything = UINT64_MAX;
    CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_everything));
    pool_ = pool;
  }

  /// Whether `data` came from cudaMalloc; removes it from that list.
  bool forget(void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find(without_pool_.begin(), without_pool_.end(), data);
    if (found == without_pool_.end()) return false;
    *found = nullptr;
    return true;
  }

  int device_;
  std::mutex mutex_;
  std::array<void*, 12> without_pool_ = {};
  std::size_t given_ = 0;
  cudaMemPool_t pool_ = nullptr;
};

// Free memory on the device, the unused part of the pool included.
std::uint64_t free_bytes_of(int device) {
  std::size_t free_bytes = 0, total_bytes = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  return free_bytes + Source::of(device).unused_bytes();
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
  Source& source = Source::of(device_);
  cudaError_t status = source.allocate(&data, bytes, stream_);
  if (status == cudaErrorMemoryAllocation) {
    // Free memory may be in pieces that are too small: return all of it to the driver and try once
    // more.
    static_cast<void>(cudaGetLastError());
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    source.trim();
    status = source.allocate(&data, bytes, stream_);
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
  Source::of(device_).release(data, stream_);
}

}  // namespace csrkit::gpu
