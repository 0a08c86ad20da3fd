// Copies by threads: every byte arrives, nothing beside it is touched, and uploads without a team
// are the driver's.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_buffer.h"
#include "gpu/device/staged_copies.h"
#include "gpu/device/streams/stream.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::gpu {
namespace {

using ::csrkit::testing::GpuTest;

constexpr std::size_t kMargin = 257;  // of somebody else, on both sides: places are odd
constexpr unsigned char kPoison = 0xa5;

unsigned char byte_of(std::size_t array, std::size_t at) {
  return static_cast<unsigned char>(31 * array + at * 2654435761u / 4096 + at);
}

/// Arrays of these sizes go to the device and come back, by `threads`.
void check_there_and_back(const std::vector<std::size_t>& sizes, int threads) {
  const Stream stream(nullptr);
  DeviceMemory memory(0, stream.get(), 0);
  std::vector<std::vector<unsigned char>> sent, received;
  std::vector<DeviceBuffer<unsigned char>> on_device;
  std::vector<StagedCopy> up, down;
  for (std::size_t array = 0; array < sizes.size(); ++array) {
    const std::size_t bytes = sizes[array];
    sent.emplace_back(bytes);
    for (std::size_t at = 0; at < bytes; ++at) sent.back()[at] = byte_of(array, at);
    received.emplace_back(bytes + 2 * kMargin, kPoison);
    on_device.emplace_back(memory, static_cast<Offset>(bytes + 2 * kMargin), "a test");
    CHECK_CUDA(
        cudaMemsetAsync(on_device.back().data(), kPoison, bytes + 2 * kMargin, stream.get()));
  }
  for (std::size_t array = 0; array < sizes.size(); ++array) {
    unsigned char* const there = on_device[array].data() + kMargin;
    up.push_back({there, sent[array].data(), sizes[array]});
    down.push_back({received[array].data() + kMargin, there, sizes[array]});
  }
  {
    const UploadTeam team(threads);
    upload(up, stream.get());
  }
  copy_to_host(down, threads, stream.get());
  for (std::size_t array = 0; array < sizes.size(); ++array) {
    std::vector<unsigned char> expected(sizes[array] + 2 * kMargin, kPoison);
    std::copy(sent[array].begin(), sent[array].end(), expected.begin() + kMargin);
    EXPECT_TRUE(received[array] == expected) << "array " << array << " with " << threads;
    std::vector<unsigned char> whole(sizes[array] + 2 * kMargin);
    CHECK_CUDA(cudaMemcpy(whole.data(), on_device[array].data(), whole.size(), cudaMemcpyDefault));
    EXPECT_TRUE(whole == expected) << "array " << array << " on the device, with " << threads;
  }
}

using StagedCopies = GpuTest;

TEST_F(StagedCopies, EveryByteGoesThereAndBack) {
  for (const int threads : {1, 2, 3, 16, 40}) {
    check_there_and_back({}, threads);
    check_there_and_back({0, 1, 4097}, threads);
    check_there_and_back({(std::size_t{16} << 20) - 1}, threads);
    check_there_and_back({std::size_t{16} << 20, 0, 5}, threads);
    check_there_and_back({(std::size_t{37} << 20) + 13, 3, (std::size_t{9} << 20) + 1}, threads);
  }
}

TEST_F(StagedCopies, SeveralAtOnce) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([rank] {
      for (int run = 0; run < 3; ++run) {
        check_there_and_back({(std::size_t{20} << 20) + static_cast<std::size_t>(rank), 77}, 4);
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST_F(StagedCopies, AFailureIsThrownAndLeavesThePieces) {
  const Stream stream(nullptr);
  std::vector<unsigned char> host(std::size_t{20} << 20);
  const UploadTeam team(4);
  // An address that is nobody's: the driver refuses the copy, and nothing is broken after.
  void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{64});
  EXPECT_THROW(upload({{nowhere, host.data(), host.size()}}, stream.get()), DeviceError);
  check_there_and_back({std::size_t{20} << 20}, 4);
}

using SanitizerStagedCopies = GpuTest;

TEST_F(SanitizerStagedCopies, ThereAndBack) {
  check_there_and_back({(std::size_t{17} << 20) + 13, 3}, 3);
}

}  // namespace
}  // namespace csrkit::gpu
