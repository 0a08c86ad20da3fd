// The order of copies, and what a pipeline does with it.
#include "gpu/spmm/out_of_core/pipeline.h"

#include <cstring>
#include <stdexcept>

#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {
namespace {

using gpu::InBatch;
using gpu::Piece;
using gpu::Region;

Region region_of(std::vector<std::byte>* host, std::size_t row_bytes, Offset rows) {
  Region region;
  region.host = host->data();
  region.pitch_bytes = region.row_bytes = row_bytes;
  region.rows = rows;
  return region;
}

TEST(OutOfCorePieces, CoverARegionOnceAndAreSmallEnough) {
  std::vector<std::byte> host(1);
  for (const std::size_t row_bytes : {0u, 1u, 7u, 64u, 100u, 1000u}) {
    for (const Offset rows : {0, 1, 5, 64}) {
      for (const std::size_t most : {1u, 7u, 64u, 100u, 5000u}) {
        std::vector<int> times_seen(row_bytes * static_cast<std::size_t>(rows), 0);
        for (const Piece& piece : gpu::pieces_of(3, 1, region_of(&host, row_bytes, rows), most)) {
          EXPECT_EQ(piece.batch, 3);
          EXPECT_EQ(piece.region, 1);
          EXPECT_LE(piece.size(), most);
          EXPECT_GT(piece.size(), 0u);
          if (piece.rows > 1) {
            EXPECT_EQ(piece.bytes, row_bytes);
          }
          for (Offset row = piece.first_row; row < piece.first_row + piece.rows; ++row) {
            for (std::size_t i = 0; i < piece.bytes; ++i) {
              ++times_seen[static_cast<std::size_t>(row) * row_bytes + piece.first_byte + i];
            }
          }
        }
        for (const int times : times_seen) ASSERT_EQ(times, 1);
      }
    }
  }
}

TEST(OutOfCorePieces, WhatAStepNeedsComesBeforeItAndWhatIsForLaterIsSpreadOut) {
  std::vector<std::byte> host(1);
  std::vector<InBatch> batches(4);
  for (InBatch& batch : batches) batch.regions = {region_of(&host, 10, 9)};
  batches[3].regions.push_back(region_of(&host, 10, 1));
  // Batch 0 first; steps need 2 and 3; batch 1 is for later.
  const std::vector<Piece> order =
      gpu::in_order(batches, {0}, {{{2}, 1, 0, 2}, {{3}, 1, 1, 2}}, 10);
  std::vector<Index> of;
  for (const Piece& piece : order) of.push_back(piece.batch);
  std::vector<Index> expected(9, 0);
  expected.insert(expected.end(), 9, 2);
  expected.insert(expected.end(), 4, 1);
  expected.insert(expected.end(), 10, 3);
  expected.insert(expected.end(), 5, 1);
  EXPECT_EQ(of, expected);
}

class OutOfCorePipeline : public GpuTest {};

TEST_F(OutOfCorePipeline, WhatGoesInComesOut) {
  constexpr std::size_t kRow = 1000, kPitch = 1500;
  constexpr Offset kRows = 20000;
  std::vector<std::byte> from(kPitch * kRows), to(kPitch * kRows, std::byte{0xee});
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31 + i / 999);
  std::byte* device = nullptr;
  CHECK_CUDA(cudaMalloc(&device, kRow * kRows));
  for (const int threads : {1, 2, 3, 8}) {
    gpu::Pipeline pipeline(threads);
    gpu::Event loaded, computed, drained;
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreate(&stream));
    gpu::Schedule schedule;
    InBatch batch;
    batch.regions = {{from.data(), kPitch, kRow, kRows, device}};
    batch.loaded = loaded.get();
    schedule.in = {batch};
    schedule.in_order = gpu::in_order(schedule.in, {0}, {}, gpu::Pipeline::kPieceBytes);
    gpu::Step step;
    step.needs = {0};
    step.issue = [&] {
      CHECK_CUDA(cudaStreamWaitEvent(stream, loaded.get(), 0));
      CHECK_CUDA(cudaEventRecord(computed.get(), stream));
    };
    schedule.steps = {step};
    schedule.out = {{{to.data(), kPitch, kRow, kRows, device}, computed.get(), drained.get()}};
    for (int round = 0; round < 3; ++round) {
      std::fill(to.begin(), to.end(), std::byte{0xee});
      pipeline.run(schedule);
      for (std::size_t row = 0; row < kRows; ++row) {
        ASSERT_EQ(std::memcmp(to.data() + row * kPitch, from.data() + row * kPitch, kRow), 0);
        for (std::size_t i = kRow; i < kPitch; ++i) {
          ASSERT_EQ(to[row * kPitch + i], std::byte{0xee});
        }
      }
    }
    EXPECT_GT(pipeline.copy_bytes_per_second(device, device, kRow * kRows / 2), 0);
    CHECK_CUDA(cudaStreamDestroy(stream));
  }
  CHECK_CUDA(cudaFree(device));
}

TEST_F(OutOfCorePipeline, AFailureEndsAllAndComesToTheCaller) {
  std::vector<std::byte> from(100 << 20), to(100 << 20);
  std::byte* device = nullptr;
  CHECK_CUDA(cudaMalloc(&device, from.size()));
  gpu::Pipeline pipeline(4);
  gpu::Event loaded, computed, drained;
  gpu::Schedule schedule;
  InBatch batch;
  batch.regions = {{from.data(), 1024, 1024, 100 << 10, device}};
  batch.loaded = loaded.get();
  schedule.in = {batch};
  schedule.in_order = gpu::in_order(schedule.in, {0}, {}, gpu::Pipeline::kPieceBytes);
  gpu::Step step;
  step.needs = {0};
  step.issue = [] { throw std::runtime_error("the step failed"); };
  schedule.steps = {step};
  schedule.out = {{{to.data(), 1024, 1024, 100 << 10, device}, computed.get(), drained.get()}};
  EXPECT_THROW(pipeline.run(schedule), std::runtime_error);
  CHECK_CUDA(cudaFree(device));
}

}  // namespace
}  // namespace csrkit::testing
