// Tests that need a GPU skip, visibly, where there is none; on machines that must have one they
// fail.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "tests/property/spmm/battery.h"

namespace csrkit::testing {

/// "" or why no GPU can be used.
inline const std::string& missing_gpu() {
  static const std::string reason = [] {
    try {
      gpu::require_device(0);
      return std::string();
    } catch (const NoDeviceError& error) {
      return std::string(error.what());
    }
  }();
  return reason;
}

template <class Base>
class WithGpu : public Base {
 protected:
  void SetUp() override {
    if (missing_gpu().empty()) return;
    const char* required = std::getenv("CSRKIT_REQUIRE_GPU");
    if (required != nullptr && std::string(required) == "1") FAIL() << missing_gpu();
    GTEST_SKIP() << missing_gpu();
  }
};

using GpuTest = WithGpu<::testing::Test>;
using GpuKernelTest = WithGpu<::testing::TestWithParam<std::string>>;

/// A dense operand in the middle of a bigger array, on the host and on the device: `shift` columns
/// to the left of it and `padding` to the right belong to somebody else, as do 4 KiB before and
/// after.
class DeviceSlice {
 public:
  DeviceSlice(Index rows, Index cols, ValueKind kind, Offset shift, Offset padding)
      : whole_(rows, cols + static_cast<Index>(shift), kind, padding), shift_(shift) {
    view_ = whole_.view();
    view_.data = static_cast<char*>(view_.data) + shift * size_of(kind);
    view_.cols = cols;
    bytes_ = whole_.bytes().size();
    CHECK_CUDA(cudaMalloc(&device_, bytes_));
  }
  ~DeviceSlice() { CHECK_CUDA_NOEXCEPT(cudaFree(device_)); }
  DeviceSlice(const DeviceSlice&) = delete;
  DeviceSlice& operator=(const DeviceSlice&) = delete;

  DenseView host() const { return view_; }
  DenseView device() const {
    DenseView view = view_;
    view.data = device_ + GuardedDense::kGuardBytes + shift_ * size_of(view.kind);
    view.space = MemorySpace::device;
    return view;
  }

  /// What is not the operand's is made of `surroundings`: 0xff makes a NaN of every kind.
  void upload(cudaStream_t stream, unsigned char surroundings = GuardedDense::kGuardByte) {
    const std::vector<unsigned char> whole = whole_.bytes();
    before_.assign(bytes_, surroundings);
    for_rows([&](std::size_t at, std::size_t bytes) {
      std::memcpy(before_.data() + at, whole.data() + at, bytes);
    });
    CHECK_CUDA(cudaMemcpyAsync(device_, before_.data(), bytes_, cudaMemcpyHostToDevice, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
  }

  /// Brings everything back; says whether all bytes outside the operand are as they were uploaded.
  bool download_and_check_surroundings(cudaStream_t stream) {
    std::vector<unsigned char> now(bytes_);
    CHECK_CUDA(cudaMemcpyAsync(now.data(), device_, bytes_, cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    for_rows([&](std::size_t at, std::size_t bytes) {
      std::memcpy(static_cast<unsigned char*>(whole_start()) + at, now.data() + at, bytes);
      std::memcpy(before_.data() + at, now.data() + at, bytes);
    });
    return before_ == now;
  }

  /// Whether not a single byte on the device differs from what was uploaded.
  bool is_untouched(cudaStream_t stream) const {
    std::vector<unsigned char> now(bytes_);
    CHECK_CUDA(cudaMemcpyAsync(now.data(), device_, bytes_, cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    return now == before_;
  }

 private:
  /// f(at, bytes) for the operand's part of every row.
  template <class F>
  void for_rows(F&& f) const {
    const auto element = static_cast<std::size_t>(size_of(view_.kind));
    for (Index row = 0; row < view_.rows; ++row) {
      f(GuardedDense::kGuardBytes +
            static_cast<std::size_t>(Offset{row} * view_.leading_dim + shift_) * element,
        static_cast<std::size_t>(view_.cols) * element);
    }
  }
  void* whole_start() const {
    return static_cast<unsigned char*>(whole_.view().data) - GuardedDense::kGuardBytes;
  }

  GuardedDense whole_;
  Offset shift_;
  DenseView view_;
  std::size_t bytes_ = 0;
  unsigned char* device_ = nullptr;
  std::vector<unsigned char> before_;
};

/// How many cases are run at once, each by a host thread of its own: CSRKIT_TEST_THREADS, or 1.
/// Threads of one process share the device; processes would have to take turns on it.
inline int test_threads() {
  const char* const wanted = std::getenv("CSRKIT_TEST_THREADS");
  return wanted == nullptr ? 1 : std::max(1, std::atoi(wanted));
}

/// f(i) for every i below `count`, on test_threads() threads, until one has failed.
template <class F>
void on_test_threads(std::size_t count, F f) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count && !::testing::Test::HasFatalFailure(); i = next++) {
      try {
        f(i);
      } catch (const std::exception& error) {
        GTEST_FAIL() << "case " << i << ": " << error.what();
      }
    }
  };
  const int wanted = std::min<int>(test_threads(), static_cast<int>(count));
  if (wanted <= 1) return work();
  std::vector<std::thread> threads;
  for (int i = 0; i < wanted; ++i) {
    threads.emplace_back([&] {
      omp_set_num_threads(1);  // of this thread only: its neighbours have the other cores
      work();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The battery, made once: some of its matrices take longer to make than to multiply.
inline const std::vector<std::pair<std::string, CsrMatrix>>& made_battery() {
  static const std::vector<std::pair<std::string, CsrMatrix>> made = [] {
    std::vector<std::pair<std::string, CsrMatrix>> all;
    for (const BatteryMatrix& item : spmm_battery()) all.emplace_back(item.name, item.make());
    return all;
  }();
  return made;
}

inline const CsrMatrix& battery_matrix(const std::string& name) {
  for (const auto& [known, matrix] : made_battery()) {
    if (name == known) return matrix;
  }
  throw UsageError("no matrix '" + name + "' in the battery");
}

}  // namespace csrkit::testing
