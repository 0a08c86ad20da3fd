// The device room: checked calls, accounted memory, matrices on the device, and kernels used below
// the plan.

#include <algorithm>
#include <cmath>

#include "gpu/device/device_buffer.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/device_info.h"
#include "gpu/device/page_locked_cells.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/device/timing/l2_flush.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/device_spmm.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

using gpu::DeviceBuffer;
using gpu::DeviceCsr;
using gpu::DeviceCsrView;
using gpu::DeviceMemory;
using gpu::DeviceSpmm;
using gpu::OffsetWidth;
using gpu::SpmmSizes;
using gpu::Stream;

__global__ void do_nothing() {}

__global__ void write_number(int* to, int number) { *to = number; }

__global__ void write_numbers(int* to, Offset count, int number) {
  const Offset at = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at < count) to[at] = number;
}

__global__ void read_offsets(gpu::DeviceOffsets offsets, Offset count, Offset* out) {
  const Offset at = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at < count) out[at] = offsets[at];
}

template <class T>
std::vector<T> fetch(const T* device, Offset count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  CHECK_CUDA(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

class DeviceRoom : public GpuTest {};

/// Every buffer keeps what is its own, also while others are given back with work under way.
void check_many_buffers() {
  constexpr int kBuffers = 30, kThreads = 256;
  const Stream stream(nullptr);
  DeviceMemory memory(0, stream.get(), 0);
  const auto write = [&](const DeviceBuffer<int>& buffer, int number) {
    const auto blocks = static_cast<unsigned>((buffer.size() + kThreads - 1) / kThreads);
    write_numbers<<<blocks, kThreads, 0, stream.get()>>>(buffer.data(), buffer.size(), number);
    CHECK_LAUNCH("write_numbers", stream.get());
  };
  std::vector<DeviceBuffer<int>> buffers(kBuffers);
  std::uint64_t used = 0;
  const auto make = [&](int i) {
    DeviceBuffer<int>& buffer = buffers[static_cast<std::size_t>(i)];
    used -= buffer.size_bytes();
    if (buffer.size() > 0) write(buffer, -1);
    buffer = {};
    buffer = DeviceBuffer<int>(memory, 1 + Offset{i % 7} * 40'000, "numbers");
    used += buffer.size_bytes();
    write(buffer, i);
  };
  for (int i = 0; i < kBuffers; ++i) make(i);
  for (int i = 0; i < kBuffers; i += 3) make(i);
  for (int i = kBuffers - 1; i >= 0; i -= 2) make(i);
  EXPECT_EQ(memory.used_bytes(), used);
  for (int i = 0; i < kBuffers; ++i) {
    const DeviceBuffer<int>& buffer = buffers[static_cast<std::size_t>(i)];
    const std::vector<int> numbers = fetch(buffer.data(), buffer.size());
    EXPECT_EQ(std::count(numbers.begin(), numbers.end(), i), buffer.size()) << "buffer " << i;
  }
  buffers.clear();
  EXPECT_EQ(memory.used_bytes(), 0u);
}

}  // namespace

TEST_F(DeviceRoom, RatesOfACardAreWhatItsFactsSay) {
  const gpu::DeviceInfo info = gpu::device_info();
  const gpu::CardRates rates = gpu::current_card_rates();
  EXPECT_DOUBLE_EQ(rates.cycles_per_second, 1e3 * info.sm_clock_khz * info.multiprocessors);
  EXPECT_DOUBLE_EQ(rates.memory_bytes_per_second, info.peak_bandwidth_bytes_per_second);
  EXPECT_DOUBLE_EQ(rates.l2_bytes, static_cast<double>(info.l2_bytes));
  EXPECT_EQ(gpu::current_multiprocessors(), info.multiprocessors);
}

TEST_F(DeviceRoom, FailedLaunchesNameTheKernelAndThePlace) {
  constexpr unsigned kTooManyThreads = 4096;
  try {
    do_nothing<<<1, kTooManyThreads>>>();
    CHECK_LAUNCH("do_nothing", nullptr);
    FAIL() << "a block of 4096 threads was launched";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("launch of do_nothing"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("(device_test.cu:"), std::string::npos)
        << error.what();
  }
  do_nothing<<<1, 1>>>();
  CHECK_LAUNCH("do_nothing", nullptr);  // the error does not linger
}

TEST_F(DeviceRoom, FailedCallsKeepTheirText) {
  try {
    CHECK_CUDA(cudaSetDevice(12345));
    FAIL() << "there are not that many devices";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("cudaSetDevice(12345)"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(CHECK_CUSPARSE(cusparseSetStream(nullptr, nullptr)), DeviceError);
  void* data = nullptr;
  EXPECT_THROW(CHECK_CUDA(cudaMalloc(&data, std::size_t{1} << 60)), MemoryError);
  EXPECT_NO_THROW(CHECK_CUDA(cudaGetLastError()));
}

TEST_F(DeviceRoom, KnowsTheDevice) {
  const gpu::DeviceInfo info = gpu::device_info(0);
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.multiprocessors, 0);
  EXPECT_GT(info.l2_bytes, 0u);
  EXPECT_GT(info.peak_bandwidth_bytes_per_second, 1e9);
  EXPECT_LE(info.free_memory_bytes, info.total_memory_bytes);
  EXPECT_THROW(gpu::device_info(12345), NoDeviceError);
  EXPECT_THROW(gpu::device_info(-1), NoDeviceError);
}

TEST_F(DeviceRoom, CountsMemoryAndKeepsToTheLimit) {
  const Stream stream(nullptr);
  DeviceMemory memory(0, stream.get(), 1000000);
  {
    const DeviceBuffer<float> first(memory, 100000, "the first");
    DeviceBuffer<float> second(memory, 100000, "the second");
    EXPECT_EQ(memory.used_bytes(), 800000u);
    EXPECT_THROW((DeviceBuffer<float>(memory, 60000, "too much")), MemoryError);
    second = {};
    EXPECT_EQ(memory.used_bytes(), 400000u);
    EXPECT_NO_THROW((DeviceBuffer<float>(memory, 60000, "what fits now")));
    const DeviceBuffer<float> none(memory, 0, "nothing");
    EXPECT_EQ(none.data(), nullptr);
  }
  EXPECT_EQ(memory.used_bytes(), 0u);
  EXPECT_EQ(memory.peak_bytes(), 800000u);
  DeviceMemory unlimited(0, stream.get(), 0);
  EXPECT_THROW(unlimited.require(std::uint64_t{1} << 60, "an exabyte"), MemoryError);
}

// The first memory of a process comes another way than later one: run by itself, this sees both.
TEST_F(DeviceRoom, GivesEveryBufferMemoryOfItsOwn) { check_many_buffers(); }

TEST_F(DeviceRoom, PageLockedCellsAreApartAndKernelsWriteToThem) {
  constexpr int kMoreThanAPage = 40;
  std::vector<int*> cells;
  for (int i = 0; i < kMoreThanAPage; ++i) {
    cells.push_back(static_cast<int*>(gpu::PageLockedCells::take()));
    write_number<<<1, 1>>>(cells.back(), i);
    CHECK_LAUNCH("write_number", nullptr);
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < kMoreThanAPage; ++i) EXPECT_EQ(*cells[static_cast<std::size_t>(i)], i);
  std::sort(cells.begin(), cells.end());
  for (std::size_t i = 1; i < cells.size(); ++i) {
    EXPECT_GE(reinterpret_cast<std::byte*>(cells[i]) - reinterpret_cast<std::byte*>(cells[i - 1]),
              static_cast<std::ptrdiff_t>(gpu::PageLockedCells::kBytes));
  }
  for (int* cell : cells) gpu::PageLockedCells::give_back(cell);
  for (int i = 0; i < 100; ++i) {
    if (void* cell = gpu::PageLockedCells::take_if_it_pays()) gpu::PageLockedCells::give_back(cell);
  }
  void* now = gpu::PageLockedCells::take_if_it_pays();
  EXPECT_NE(now, nullptr);
  gpu::PageLockedCells::give_back(now);
  void* again = gpu::PageLockedCells::take();
  EXPECT_EQ(again, cells.back()) << "the one given back last";
  gpu::PageLockedCells::give_back(again);
}

TEST_F(DeviceRoom, UploadsOffsetsInBothWidths) {
  const CsrMatrix matrix = battery_matrix("power_law");
  const Stream stream(nullptr);
  DeviceMemory memory(0, stream.get(), 0);
  for (const OffsetWidth width : {OffsetWidth::automatic, OffsetWidth::wide}) {
    const DeviceCsr on_device(memory, matrix, width);
    const DeviceCsrView<double> view = on_device.view<double>();
    EXPECT_EQ(view.row_offsets.narrow != nullptr, width == OffsetWidth::automatic);
    const Offset count = Offset{matrix.rows()} + 1;
    const DeviceBuffer<Offset> seen(memory, count, "offsets as kernels see them");
    read_offsets<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream.get()>>>(
        view.row_offsets, count, seen.data());
    CHECK_LAUNCH("read_offsets", stream.get());
    stream.wait();
    EXPECT_EQ(fetch(seen.data(), count),
              std::vector<Offset>(matrix.row_offsets(), matrix.row_offsets() + count));
    EXPECT_EQ(fetch(view.col_indices, matrix.nnz()),
              std::vector<Index>(matrix.col_indices(), matrix.col_indices() + matrix.nnz()));
    EXPECT_LE(memory.peak_bytes(),
              DeviceCsr::forecast_bytes(matrix.rows(), matrix.nnz(), matrix.value_kind()) +
                  static_cast<std::uint64_t>(count) * 2 * sizeof(Offset));
  }
}

namespace {

/// Runs a kernel below the plan on rows [first, last) of what is on the device; returns those rows.
DenseMatrix run_on_rows(DeviceSpmm& kernel, const CsrMatrix& matrix, const DeviceCsr& on_device,
                        Index first, Index last, const DenseMatrix& b, DeviceMemory& memory) {
  const DeviceCsrView<void> part =
      on_device.view<float>()
          .range(first, last, matrix.row_offsets()[first], matrix.row_offsets()[last])
          .as<void>();
  const SpmmSizes sizes = {part.rows, part.cols, part.nnz, b.cols()};
  const DeviceBuffer<std::byte> workspace(
      memory, static_cast<Offset>(kernel.workspace_bytes(sizes)), "workspace");
  const DeviceBuffer<float> device_b(memory, Offset{b.rows()} * b.cols(), "B");
  const DeviceBuffer<float> device_c(memory, Offset{part.rows} * b.cols(), "C");
  const DenseView b_view = {device_b.data(), ValueKind::f32, b.rows(),
                            b.cols(),        b.cols(),       MemorySpace::device};
  const DenseView c_view = {device_c.data(), ValueKind::f32, part.rows,
                            b.cols(),        b.cols(),       MemorySpace::device};
  gpu::copy_dense(b_view, b.view(), memory.stream());
  kernel.analyse(part, sizes, workspace.data(), memory.stream());
  kernel.finish_analysis(workspace.data(), memory.stream());
  kernel.launch(part, b_view, c_view, 1, 0, workspace.data(), memory.stream());
  DenseMatrix c(part.rows, b.cols(), ValueKind::f32);
  gpu::copy_dense(c.view(), c_view, memory.stream());
  CHECK_CUDA(cudaStreamSynchronize(memory.stream()));
  return c;
}

std::vector<std::string> own_kernel_names() {
  std::vector<std::string> names;
  for (const SpmmKernel& kernel : gpu::spmm_kernels()) {
    if (kernel.role != Role::vendor && std::string(kernel.name) != "auto")
      names.push_back(kernel.name);
  }
  return names;
}

class OwnGpuSpmmKernel : public GpuKernelTest {};

}  // namespace

TEST_P(OwnGpuSpmmKernel, MultipliesRangesOfRowsWithOffsetsOfBothWidths) {
  const Stream stream(nullptr);
  DeviceMemory memory(0, stream.get(), 0);
  for (const char* name : {"power_law", "one_huge_row", "every_other_row_empty"}) {
    SCOPED_TRACE(name);
    const CsrMatrix matrix = convert_values(battery_matrix(name), ValueKind::f32);
    const SpmmProblem problem = default_spmm_problem(matrix, 40);
    const auto kernel = gpu::make_device_spmm(GetParam(), problem);
    DenseMatrix b(matrix.cols(), 40, ValueKind::f32);
    fill_random(b.view(), 4);
    for (const OffsetWidth width : {OffsetWidth::automatic, OffsetWidth::wide}) {
      const DeviceCsr on_device(memory, matrix, width);
      DenseMatrix c(matrix.rows(), 40, ValueKind::f32);
      const Index cuts[] = {0, matrix.rows() / 3, matrix.rows() / 3, matrix.rows() / 2 + 1,
                            matrix.rows()};
      for (int i = 0; i + 1 < 5; ++i) {
        const DenseMatrix part =
            run_on_rows(*kernel, matrix, on_device, cuts[i], cuts[i + 1], b, memory);
        for (Index row = 0; row < part.rows(); ++row) {
          std::memcpy(c.view().as<float>() + Offset{cuts[i] + row} * 40,
                      part.view().as<float>() + Offset{row} * 40, 40 * sizeof(float));
        }
      }
      const DenseMatrix& judged = c;
      const CheckResult result =
          check_spmm(problem, ConstDenseView(b.view()), 1, 0, nullptr, judged.view());
      ASSERT_TRUE(result.passed) << result.failure;
    }
  }
}

TEST_P(OwnGpuSpmmKernel, CanBeCapturedInAGraphBecauseItNeitherAllocatesNorWaits) {
  const SpmmProblem problem = [] {
    return default_spmm_problem(convert_values(battery_matrix("one_huge_row"), ValueKind::f32), 32);
  }();
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  PlanOptions options;
  options.where.stream = stream;
  {
    DeviceSlice b(problem.input_rows(), 32, ValueKind::f32, 0, 0);
    DeviceSlice c(problem.output_rows(), 32, ValueKind::f32, 0, 0);
    fill_random(b.host(), 5);
    b.upload(stream);
    c.upload(stream);
    const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), GetParam());
    options.deterministic = kernel.can(kDeterministic);
    const auto plan = kernel.make_plan(problem, options);
    plan->bind(b.device(), c.device());
    plan->multiply(1, 0);  // code is loaded on first use, which a capture does not allow
    plan->wait();
    c.upload(stream);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    plan->multiply(1, 0);
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    ASSERT_TRUE(c.is_untouched(stream));
    CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(executable, stream));
    EXPECT_TRUE(c.download_and_check_surroundings(stream));
    const CheckResult result = check_spmm(problem, b.host(), 1, 0, nullptr, c.host());
    EXPECT_TRUE(result.passed) << result.failure;
    CHECK_CUDA(cudaGraphExecDestroy(executable));
    CHECK_CUDA(cudaGraphDestroy(graph));
  }
  CHECK_CUDA(cudaStreamDestroy(stream));
}

INSTANTIATE_TEST_SUITE_P(Kernels, OwnGpuSpmmKernel, ::testing::ValuesIn(own_kernel_names()),
                         [](const auto& info) { return info.param; });

TEST_F(DeviceRoom, TransposesAsTheHostDoes) {
  const Stream stream(nullptr);
  for (const auto& [name, matrix] : made_battery()) {
    for (const ValueKind kind : {ValueKind::none, ValueKind::f16, ValueKind::f32, ValueKind::f64}) {
      SCOPED_TRACE(name + " " + name_of(kind));
      const CsrMatrix a = convert_values(matrix, kind);
      const CsrMatrix expected = transpose(a);
      DeviceMemory memory(0, stream.get(), 0);
      const DeviceCsr device_a(memory, a);
      const std::uint64_t used = memory.used_bytes(), peak = memory.peak_bytes();
      const DeviceCsr found = device_a.transposed(memory);
      stream.wait();
      // What is allocated comes in multiples of 256 bytes.
      EXPECT_LE(
          memory.peak_bytes(),
          std::max(peak, used + DeviceCsr::transpose_bytes(a.cols(), a.nnz(), kind) + 8 * 256));
      ASSERT_EQ(found.rows(), expected.rows());
      ASSERT_EQ(found.cols(), expected.cols());
      const auto view = found.view<void>();
      const auto offsets = fetch(view.row_offsets.narrow, Offset{expected.rows()} + 1);
      for (Index row = 0; row <= expected.rows(); ++row) {
        ASSERT_EQ(offsets[static_cast<std::size_t>(row)], expected.row_offsets()[row]);
      }
      const auto cols = fetch(view.col_indices, expected.nnz());
      ASSERT_TRUE(std::equal(cols.begin(), cols.end(), expected.col_indices()));
      if (kind == ValueKind::none) continue;
      const auto bytes =
          fetch(static_cast<const unsigned char*>(view.values), expected.nnz() * size_of(kind));
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(),
                             static_cast<const unsigned char*>(expected.values())));
    }
  }
}

TEST_F(DeviceRoom, CopiesOnlyWhatBelongsToAMatrix) {
  const Stream stream(nullptr);
  DeviceSlice slice(37, 5, ValueKind::f16, 3, 2);
  slice.upload(stream.get());
  DenseMatrix source(37, 5, ValueKind::f16, 9);
  fill_random(source.view(), 8);
  gpu::copy_dense(slice.device(), source.view(), stream.get());
  EXPECT_TRUE(slice.download_and_check_surroundings(stream.get()));
  for (Index i = 0; i < 37; ++i) {
    for (Index j = 0; j < 5; ++j) {
      ASSERT_EQ(ConstDenseView(slice.host()).at(i, j), ConstDenseView(source.view()).at(i, j));
    }
  }
}

TEST_F(DeviceRoom, TimesAndFlushes) {
  const Stream stream(nullptr);
  gpu::L2Flush flush(0, stream.get());
  gpu::GpuTimer timer;
  flush.run();
  timer.start(stream.get());
  flush.run();
  timer.stop(stream.get());
  EXPECT_GT(timer.seconds(), 1e-6);
}

/// For compute-sanitizer: what kernels are measured with.
class SanitizerDeviceRoom : public DeviceRoom {};

TEST_F(SanitizerDeviceRoom, GivesEveryBufferMemoryOfItsOwn) { check_many_buffers(); }

TEST_F(SanitizerDeviceRoom, TimesAndFlushes) {
  const Stream stream(nullptr);
  gpu::L2Flush flush(0, stream.get());
  flush.run();
  stream.wait();
}

}  // namespace csrkit::testing
