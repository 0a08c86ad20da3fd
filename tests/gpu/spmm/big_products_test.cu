// Products whose sizes pass 2^31 elements and 2^33 bytes: where 32-bit index arithmetic breaks.
// What is right is known by construction, so the GPU itself checks every element.

#include <thread>

#include "gpu/device/device_buffer.h"
#include "gpu/device/streams/stream.h"
#include "gpu/plan/kernels.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

constexpr int kThreads = 256;

__host__ __device__ inline std::uint32_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull;
  return static_cast<std::uint32_t>(x >> 32);
}

/// Element (i, j) of B: exact in f32, different from its neighbours in every direction.
__host__ __device__ inline float element_of_b(Offset i, Offset j) {
  return static_cast<float>(mixed(static_cast<std::uint64_t>(i) * 1031 + j) >> 12) - 524288.0f;
}

__global__ void fill_b(float* b, Offset rows, Index cols) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at < rows * cols) b[at] = element_of_b(at / cols, at % cols);
}

// Rows have at most one entry, of value 2: C is 2 B of that row, or 0.
__global__ void count_wrong_gathers(const float* c, Offset rows, Index cols,
                                    const Offset* row_offsets, const Index* col_indices,
                                    unsigned long long* wrong) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= rows * cols) return;
  const Offset row = at / cols, begin = row_offsets[row];
  const float expected =
      row_offsets[row + 1] > begin ? 2 * element_of_b(col_indices[begin], at % cols) : 0;
  if (!(c[at] == expected)) atomicAdd(wrong, 1ull);
}

// Every row has kRowLength entries of value 1, small whole numbers in B: sums are exact.
constexpr Index kRowLength = 64, kSpread = 16, kSmallCols = kRowLength * kSpread;
__host__ __device__ inline Index column_of(Offset entry) {
  const auto within = static_cast<Index>(entry % kRowLength);
  return within * kSpread + static_cast<Index>(mixed(static_cast<std::uint64_t>(entry)) % kSpread);
}
__host__ __device__ inline float small_element(Index i, Index j) {
  return static_cast<float>(mixed(static_cast<std::uint64_t>(i) * 1031 + j) % 1001) - 500.0f;
}
__global__ void count_wrong_sums(const float* c, Offset rows, Index cols,
                                 unsigned long long* wrong) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= rows * cols) return;
  const Offset row = at / cols;
  float sum = 0;
  for (Offset entry = row * kRowLength; entry < (row + 1) * kRowLength; ++entry) {
    sum += small_element(column_of(entry), static_cast<Index>(at % cols));
  }
  if (!(c[at] == sum)) atomicAdd(wrong, 1ull);
}

/// f(first, last) on every core, over the parts of [0, count).
template <class F>
void on_all_cores(Offset count, F f) {
  const Offset parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (Offset part = 0; part < parts; ++part) {
    threads.emplace_back(f, count * part / parts, count * (part + 1) / parts);
  }
  for (std::thread& thread : threads) thread.join();
}

unsigned blocks_for(Offset threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

class SlowBigGpuSpmm : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (gpu::device_info(0).free_memory_bytes < Offset{40} << 30) {
      GTEST_SKIP() << "needs 40 GiB of free device memory";
    }
  }
};

}  // namespace

TEST_F(SlowBigGpuSpmm, OperandsOfMoreThan2To31Elements) {
  constexpr Index kRows = 20000003, kCols = 17500013, kDenseCols = 128;
  static_assert(Offset{kCols} * kDenseCols > kMaxIndex, "B too");
  Buffer<Offset> row_offsets(Offset{kRows} + 1);
  row_offsets[0] = 0;
  for (Index row = 0; row < kRows; ++row) row_offsets[row + 1] = row_offsets[row] + (row % 9 != 4);
  const Offset nnz = row_offsets[kRows];
  ASSERT_GT(nnz * kDenseCols, kMaxIndex);
  Buffer<Index> col_indices(nnz);
  Buffer<float> values(nnz);
  on_all_cores(nnz, [&](Offset first, Offset last) {
    for (Offset at = first; at < last; ++at) {
      col_indices[at] = static_cast<Index>(mixed(static_cast<std::uint64_t>(at)) % kCols);
      values[at] = 2;
    }
  });
  const CsrMatrix a(kRows, kCols, std::move(row_offsets), std::move(col_indices),
                    ValueArray::from(std::move(values)));

  const gpu::Stream stream(nullptr);
  gpu::DeviceMemory memory(0, stream.get(), 0);
  const gpu::DeviceBuffer<float> b(memory, Offset{kCols} * kDenseCols, "B");
  const gpu::DeviceBuffer<float> c(memory, Offset{kRows} * kDenseCols, "C");
  const gpu::DeviceBuffer<Offset> offsets(memory, Offset{kRows} + 1, "offsets");
  const gpu::DeviceBuffer<Index> columns(memory, nnz, "columns");
  const gpu::DeviceBuffer<unsigned long long> wrong(memory, 1, "count");
  fill_b<<<blocks_for(b.size()), kThreads, 0, stream.get()>>>(b.data(), kCols, kDenseCols);
  CHECK_LAUNCH("fill_b", stream.get());
  CHECK_CUDA(cudaMemcpyAsync(offsets.data(), a.row_offsets(), offsets.size_bytes(),
                             cudaMemcpyHostToDevice, stream.get()));
  CHECK_CUDA(cudaMemcpyAsync(columns.data(), a.col_indices(), columns.size_bytes(),
                             cudaMemcpyHostToDevice, stream.get()));
  PlanOptions options;
  options.where.stream = stream.get();
  for (const SpmmKernel& kernel : gpu::spmm_kernels()) {
    if (kernel.role == Role::vendor) continue;
    SCOPED_TRACE(kernel.name);
    CHECK_CUDA(cudaMemsetAsync(c.data(), 0xff, c.size_bytes(), stream.get()));
    CHECK_CUDA(cudaMemsetAsync(wrong.data(), 0, sizeof(unsigned long long), stream.get()));
    options.deterministic = kernel.can(kDeterministic);
    std::unique_ptr<SpmmPlan> plan;
    try {
      plan = kernel.make_plan(default_spmm_problem(a, kDenseCols), options);
    } catch (const UsageError& error) {
      // A matrix so sparse does not suit dense windows; every other kernel has to take it.
      EXPECT_EQ(std::string(kernel.name), "dense_windows") << error.what();
      continue;
    }
    plan->bind({b.data(), ValueKind::f32, kCols, kDenseCols, kDenseCols, MemorySpace::device},
               {c.data(), ValueKind::f32, kRows, kDenseCols, kDenseCols, MemorySpace::device});
    plan->multiply(1, 0);
    count_wrong_gathers<<<blocks_for(c.size()), kThreads, 0, stream.get()>>>(
        c.data(), kRows, kDenseCols, offsets.data(), columns.data(), wrong.data());
    CHECK_LAUNCH("count_wrong_gathers", stream.get());
    unsigned long long count = 1;
    CHECK_CUDA(
        cudaMemcpyAsync(&count, wrong.data(), sizeof count, cudaMemcpyDeviceToHost, stream.get()));
    stream.wait();
    EXPECT_EQ(count, 0u) << "wrong elements of C";
  }
}

TEST_F(SlowBigGpuSpmm, MoreThan2To31Nonzeros) {
  constexpr Index kRows = 34000001, kDenseCols = 4;
  constexpr Offset kNnz = Offset{kRows} * kRowLength;
  static_assert(kNnz > kMaxIndex, "the point of this test");
  Buffer<Offset> row_offsets(Offset{kRows} + 1);
  Buffer<Index> col_indices(kNnz);
  on_all_cores(kRows, [&](Offset first, Offset last) {
    for (Offset row = first; row < last; ++row) {
      row_offsets[row + 1] = (row + 1) * kRowLength;
      for (Offset at = row * kRowLength; at < (row + 1) * kRowLength; ++at) {
        col_indices[at] = column_of(at);
      }
    }
  });
  row_offsets[0] = 0;
  const CsrMatrix a(kRows, kSmallCols, std::move(row_offsets), std::move(col_indices),
                    ValueArray(ValueKind::none, kNnz));
  DenseMatrix b(kSmallCols, kDenseCols, ValueKind::f32);
  for (Index i = 0; i < kSmallCols; ++i) {
    for (Index j = 0; j < kDenseCols; ++j) b.view().set(i, j, small_element(i, j));
  }

  const gpu::Stream stream(nullptr);
  gpu::DeviceMemory memory(0, stream.get(), 0);
  const gpu::DeviceBuffer<float> c(memory, Offset{kRows} * kDenseCols, "C");
  const gpu::DeviceBuffer<unsigned long long> wrong(memory, 1, "count");
  PlanOptions options;
  options.where.stream = stream.get();
  for (const SpmmKernel& kernel : gpu::spmm_kernels()) {
    // Of the ladder the last rung: every plan uploads 9 GB.
    if (kernel.role != Role::production && std::string(kernel.name) != "v7_bins") continue;
    SCOPED_TRACE(kernel.name);
    CHECK_CUDA(cudaMemsetAsync(c.data(), 0xff, c.size_bytes(), stream.get()));
    CHECK_CUDA(cudaMemsetAsync(wrong.data(), 0, sizeof(unsigned long long), stream.get()));
    options.deterministic = kernel.can(kDeterministic);
    const auto plan = kernel.make_plan(default_spmm_problem(a, kDenseCols), options);
    plan->bind(b.view(),
               {c.data(), ValueKind::f32, kRows, kDenseCols, kDenseCols, MemorySpace::device});
    plan->multiply(1, 0);
    count_wrong_sums<<<blocks_for(c.size()), kThreads, 0, stream.get()>>>(c.data(), kRows,
                                                                          kDenseCols, wrong.data());
    CHECK_LAUNCH("count_wrong_sums", stream.get());
    unsigned long long count = 1;
    CHECK_CUDA(
        cudaMemcpyAsync(&count, wrong.data(), sizeof count, cudaMemcpyDeviceToHost, stream.get()));
    stream.wait();
    EXPECT_EQ(count, 0u) << "wrong elements of C";
  }
  PlanOptions for_vendor;
  for_vendor.deterministic = false;
  EXPECT_THROW(find_kernel(gpu::spmm_kernels(), "vendor_cusparse")
                   .make_plan(default_spmm_problem(a, kDenseCols), for_vendor),
               UsageError);
}

}  // namespace csrkit::testing
