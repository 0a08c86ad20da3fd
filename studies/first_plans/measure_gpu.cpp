// What the first plan of a process takes on a GPU, and where that time goes: one JSON line of
// microseconds. A process has one first plan, so the program is run again for every number.
//
//   first_plans_measure MODE KERNEL K KIND a.csr
//
// MODE: cold   nothing but the CUDA context is there
//       tiny   a plan of a tiny matrix was made before: code and resources are there, memory is not
//       steps  stream, events, memory and page-locked memory were asked for before, each timed
//       other  what could take the place of some: memory by cudaMalloc, by the device's own pool,
//              page-locking a page that is there

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "core/base/stopwatch.h"
#include "core/file/csr_file.h"
#include "core/matrix/csr_matrix.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_buffer.h"
#include "gpu/device/device_info.h"
#include "gpu/device/page_locked_cells.h"
#include "gpu/plan/kernels.h"
#include "gpu/plan/resources.h"

namespace csrkit {

namespace {

void print(const char* name, const Stopwatch& since) {
  std::printf(",\"%s\":%.1f", name, since.seconds() * 1e6);
}

void take_steps() {
  const PlanOptions options;
  Stopwatch timer;
  gpu::PlanResources resources(0, options);
  print("stream and events", timer);
  timer = Stopwatch();
  std::size_t free_bytes = 0, total_bytes = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  print("asking for free memory", timer);
  const std::pair<const char*, cudaDeviceAttr> facts[] = {
      {"asking for multiprocessors", cudaDevAttrMultiProcessorCount},
      {"asking for L2", cudaDevAttrL2CacheSize},
      {"asking for the bus", cudaDevAttrGlobalMemoryBusWidth},
      {"asking for the clock", cudaDevAttrClockRate},
      {"asking for the memory's clock", cudaDevAttrMemoryClockRate}};
  for (const auto& [name, fact] : facts) {
    timer = Stopwatch();
    int value = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&value, fact, 0));
    print(name, timer);
  }
  timer = Stopwatch();
  {
    const gpu::DeviceBuffer<std::byte> small(resources.memory, 1 << 10, "a trial");
    resources.stream.wait();
  }
  print("first KiB", timer);
  timer = Stopwatch();
  {
    const gpu::DeviceBuffer<std::byte> large(resources.memory, 1 << 28, "a trial");
    resources.stream.wait();
  }
  print("256 MiB", timer);
  timer = Stopwatch();
  {
    constexpr int kSeveral = 12;
    std::vector<gpu::DeviceBuffer<std::byte>> small;
    for (int i = 0; i < kSeveral; ++i) small.emplace_back(resources.memory, 1 << 10, "a trial");
    resources.stream.wait();
  }
  print("12 KiB more, the last of a pool", timer);
  timer = Stopwatch();
  gpu::PageLockedCells::give_back(gpu::PageLockedCells::take());
  print("page-locked memory", timer);
}

void take_other_steps() {
  Stopwatch timer;
  void* data = nullptr;
  CHECK_CUDA(cudaMalloc(&data, 1 << 10));
  print("cudaMalloc", timer);
  timer = Stopwatch();
  void* from_pool = nullptr;
  CHECK_CUDA(cudaMallocAsync(&from_pool, 1 << 10, nullptr));
  CHECK_CUDA(cudaStreamSynchronize(nullptr));
  print("cudaMallocAsync", timer);
  CHECK_CUDA(cudaFreeAsync(from_pool, nullptr));
  CHECK_CUDA(cudaFree(data));
  timer = Stopwatch();
  constexpr std::size_t kPage = 4096;
  alignas(kPage) static std::byte page[kPage];
  CHECK_CUDA(cudaHostRegister(page, kPage, cudaHostRegisterDefault));
  print("cudaHostRegister", timer);
  timer = Stopwatch();
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  CHECK_CUDA(cudaMemPoolCreate(&pool, &properties));
  print("cudaMemPoolCreate", timer);
  timer = Stopwatch();
  CHECK_CUDA(cudaMallocFromPoolAsync(&from_pool, 1 << 10, pool, nullptr));
  CHECK_CUDA(cudaStreamSynchronize(nullptr));
  print("first KiB of another pool", timer);
  CHECK_CUDA(cudaFreeAsync(from_pool, nullptr));
}

/// A plan, and two products.
void plan_and_multiply(const SpmmKernel& kernel, const SpmmProblem& problem, const char* which) {
  const std::string name = which;
  std::vector<std::byte> b(static_cast<std::size_t>(problem.input_rows()) *
                           static_cast<std::size_t>(problem.dense_cols) * 8);
  std::vector<std::byte> c(static_cast<std::size_t>(problem.output_rows()) *
                           static_cast<std::size_t>(problem.dense_cols) * 8);
  const Stopwatch planning;
  const auto plan = kernel.make_plan(problem, {});
  print((name + " plan").c_str(), planning);
  std::printf(",\"%s upload\":%.1f,\"%s analysis\":%.1f", which,
              plan->phases().upload_a_seconds * 1e6, which, plan->phases().analysis_seconds * 1e6);
  plan->bind({b.data(), problem.b, problem.input_rows(), problem.dense_cols, problem.dense_cols,
              MemorySpace::host},
             {c.data(), problem.c, problem.output_rows(), problem.dense_cols, problem.dense_cols,
              MemorySpace::host});
  for (const char* product : {" product", " second product"}) {
    const Stopwatch multiplying;
    plan->multiply(1, 0);
    plan->wait();
    print((name + product).c_str(), multiplying);
  }
}

void measure(const std::string& mode, const std::string& kernel_name, Index dense_cols,
             const std::string& kind, const std::string& path) {
  constexpr int kMore = 5;
  const CsrMatrix a = convert_values(read_csr_file(path).matrix, parse_value_kind(kind));
  const SpmmKernel& kernel = find_kernel(gpu::spmm_kernels(), kernel_name);
  gpu::require_device();
  std::printf("{\"mode\":\"%s\",\"kernel\":\"%s\",\"k\":%d,\"kinds\":\"%s\",\"nnz\":%lld",
              mode.c_str(), kernel_name.c_str(), dense_cols, kind.c_str(),
              static_cast<long long>(a.nnz()));
  const Stopwatch beginning;
  CHECK_CUDA(cudaFree(nullptr));
  print("context", beginning);
  if (mode == "steps") take_steps();
  if (mode == "other") take_other_steps();
  if (mode == "tiny") {
    const Offset offsets[] = {0, 1};
    const Index cols[] = {0};
    const float values[] = {1};
    const CsrMatrix tiny(1, 1, Buffer<Offset>::copy_of(offsets, 2), Buffer<Index>::copy_of(cols, 1),
                         ValueArray::from(Buffer<float>::copy_of(values, 1)));
    plan_and_multiply(
        kernel, default_spmm_problem(convert_values(tiny, a.value_kind()), dense_cols), "tiny");
  }
  const SpmmProblem problem = default_spmm_problem(a, dense_cols);
  plan_and_multiply(kernel, problem, "first");
  for (int i = 0; i < kMore; ++i) {
    plan_and_multiply(kernel, problem, ("later " + std::to_string(i)).c_str());
  }
  std::printf("}\n");
}

}  // namespace

}  // namespace csrkit

int main(int argc, char** argv) {
  try {
    if (argc != 6) throw csrkit::UsageError("give a mode, a kernel, K, a kind and a .csr file");
    csrkit::measure(argv[1], argv[2], std::atoi(argv[3]), argv[4], argv[5]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "first_plans_measure: %s\n", error.what());
    return dynamic_cast<const csrkit::NoDeviceError*>(&error) != nullptr ? 6 : 1;
  }
}
