// What a product of SpMV takes inside of a CUDA graph, beside an empty kernel there and a limit of
// the machine: the empty kernel, the bytes that are stored of A and the sectors of x that are
// touched at 7 TB/s, and 1.5 us. Tab-separated, microseconds.
//   measure MATRIX.csr ... [--kernel NAME]
// Graphs of 100 products, or empty kernels, take turns; the median of 21 launches each. The bits of
// y are those of a product outside of the graph, or it says so and ends with 1.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/plan/kernels.h"

namespace {

using namespace csrkit;

constexpr int kProducts = 100, kLaunches = 21;

/// 32-byte sectors of x that a product touches, each once.
Offset touched_sectors(const CsrMatrix& a, Offset element_bytes) {
  std::vector<bool> touched(static_cast<std::size_t>(a.cols() * element_bytes / 32 + 1));
  for (Offset at = 0; at < a.nnz(); ++at) {
    touched[static_cast<std::size_t>(a.col_indices()[at] * element_bytes / 32)] = true;
  }
  return std::count(touched.begin(), touched.end(), true);
}

/// A graph of what `queue` queues, kProducts times.
class RepeatedGraph {
 public:
  template <class Queue>
  RepeatedGraph(cudaStream_t stream, const Queue& queue) : stream_(stream) {
    cudaGraph_t recorded = nullptr;
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < kProducts; ++i) queue();
    CHECK_CUDA(cudaStreamEndCapture(stream, &recorded));
    CHECK_CUDA(cudaGraphInstantiate(&graph_, recorded, 0));
    CHECK_CUDA(cudaGraphDestroy(recorded));
  }
  ~RepeatedGraph() { CHECK_CUDA_NOEXCEPT(cudaGraphExecDestroy(graph_)); }
  RepeatedGraph(const RepeatedGraph&) = delete;
  RepeatedGraph& operator=(const RepeatedGraph&) = delete;

  /// Seconds of one of them.
  double time() {
    timer_.start(stream_);
    CHECK_CUDA(cudaGraphLaunch(graph_, stream_));
    timer_.stop(stream_);
    return timer_.seconds() / kProducts;
  }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
  gpu::GpuTimer timer_;
};

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

__global__ void do_nothing() {}

/// False if y of the graph is another one.
bool measure(const std::string& path, const CsrMatrix& stored, ValueKind kind,
             const std::string& kernel) {
  const CsrMatrix a = convert_values(stored, kind);
  gpu::Stream stream(nullptr);
  SpmmProblem problem = default_spmm_problem(a, 1);
  PlanOptions options;
  options.where.stream = stream.get();
  const auto plan = find_kernel(gpu::spmv_kernels(), kernel).make_plan(problem, options);

  DenseMatrix x(a.cols(), 1, kind), expected(a.rows(), 1, kind), y(a.rows(), 1, kind);
  fill_random(x.view(), 1);
  gpu::DeviceMemory memory(0, stream.get(), 0);
  const auto twin_of = [&](const DenseMatrix& dense) {
    return gpu::DeviceBuffer<char>(memory, static_cast<Offset>(dense.size_bytes()), "a vector");
  };
  const auto device_x = twin_of(x), device_y = twin_of(y);
  const auto on_device = [&](char* data, Index rows) -> DenseView {
    return {data, kind, rows, 1, 1, MemorySpace::device};
  };
  const DenseView x_view = on_device(device_x.data(), a.cols());
  const DenseView y_view = on_device(device_y.data(), a.rows());
  gpu::copy_dense(x_view, x.view(), stream.get());
  plan->bind(x_view, y_view);
  plan->multiply();
  gpu::copy_dense(expected.view(), y_view, stream.get());
  stream.wait();

  CHECK_CUDA(cudaMemsetAsync(device_y.data(), 0xff, device_y.size_bytes(), stream.get()));
  RepeatedGraph products(stream.get(), [&] { plan->multiply(); });
  RepeatedGraph empty(stream.get(), [&] { do_nothing<<<1, 32, 0, stream.get()>>>(); });
  std::vector<double> of_products, of_empty;
  for (int launch = 0; launch <= kLaunches; ++launch) {
    const double product = products.time(), nothing = empty.time();
    if (launch == 0) continue;  // graphs come to the device with their first launch
    of_products.push_back(product);
    of_empty.push_back(nothing);
  }
  gpu::copy_dense(y.view(), y_view, stream.get());
  stream.wait();
  const bool is_same = std::memcmp(y.view().data, expected.view().data, y.size_bytes()) == 0;

  const Offset sectors = touched_sectors(a, size_of(kind));
  const double bytes =
      static_cast<double>(plan->stored_bytes()) + 32.0 * static_cast<double>(sectors);
  const double product = median(of_products), nothing = median(of_empty);
  const double limit = nothing + bytes / 7e12 + 1.5e-6;
  std::printf("%s\t%s\t%d\t%lld\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%s\n", path.c_str(), name_of(kind),
              a.rows(), static_cast<long long>(a.nnz()), plan->chosen_kernel().c_str(),
              bytes * 1e-6, nothing * 1e6, limit * 1e6, product * 1e6,
              is_same ? product <= limit ? "within" : "beyond" : "WRONG");
  std::fflush(stdout);
  return is_same;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string kernel = "auto";
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--kernel" && i + 1 < argc) {
      kernel = argv[++i];
    } else {
      paths.push_back(argv[i]);
    }
  }
  if (paths.empty()) {
    std::fprintf(stderr, "usage: measure MATRIX.csr ... [--kernel NAME]\n");
    return 2;
  }
  std::printf("matrix\tkind\trows\tnnz\tkernel\tMB\tempty us\tlimit us\tproduct us\tverdict\n");
  bool is_right = true;
  for (const std::string& path : paths) {
    const CsrMatrix a = read_csr_file(path).matrix;
    for (const ValueKind kind : {ValueKind::f64, ValueKind::f32}) {
      is_right = measure(path, a, kind, kernel) && is_right;
    }
  }
  return is_right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "measure: %s\n", error.what());
  return 1;
}
