#include "tools/support/forecast.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/csr_file.h"
#include "core/matrix_stats.h"
#include "core/spmm_forecast.h"
#include "tools/support/locality_report.h"
#include "tools/support/machine.h"

namespace csrkit {

namespace {

// What a tool takes beside matrices and operands: itself and its libraries, which this tool links as
// well, so that it can look at itself; and OpenMP, buffers of files and the pages of libraries that only
// a run touches. Measured with matrices of a few rows, rounded up.
constexpr std::uint64_t kRunBytes = 3ull << 19;
constexpr std::uint64_t kThreadBytes = 64ull << 10;
// Pages and allocations are rounded up, and freed memory is not always given back at once.
constexpr double kAllowance = 1.02;
// With many threads the C library keeps some of what one product freed when the next one begins: never
// blocks from 32 MiB on, which go back to the system, and never seen with up to 8 threads.
constexpr int kFewThreads = 8;
constexpr std::uint64_t kKeptBytes = 32ull << 20;
// What CUDA takes of the host and of the device for a process that multiplies small matrices (driver
// of CUDA 13.0, H200), rounded up; the pool that plans draw from grows by pieces.
constexpr std::uint64_t kDriverHostBytes = 176ull << 20;
constexpr std::uint64_t kDriverDeviceBytes = 544ull << 20;
constexpr std::uint64_t kPoolPieceBytes = 32ull << 20;

int threads_of(const ForecastToolOptions& options) {
  return machine_facts(options.multiply.plan.where.threads)["threads"].get<int>();
}

std::uint64_t with_process(const ForecastToolOptions& options, std::uint64_t bytes) {
  return options.process_bytes + kRunBytes + (options.is_gpu ? kDriverHostBytes : 0) +
         kThreadBytes * static_cast<std::uint64_t>(threads_of(options)) +
         static_cast<std::uint64_t>(kAllowance * static_cast<double>(bytes));
}

std::uint64_t with_driver(std::uint64_t plan_bytes) {
  return kDriverDeviceBytes + kPoolPieceBytes + plan_bytes;
}

/// A as stored, if a converted copy stands beside it while the product runs.
std::uint64_t stored_beside(const CsrMatrix& stored, const CsrMatrix& used) {
  return stored.value_kind() == used.value_kind() ? 0 : stored.size_bytes();
}

std::uint64_t dense_bytes(Index rows, Index cols, ValueKind kind) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
         static_cast<std::uint64_t>(size_of(kind));
}

ProductForecast forecast_one_spmm(const ForecastToolOptions& options, const GpuForecasts& gpu,
                                  const CsrMatrix& a, std::uint64_t beside, Index dense_cols) {
  MultiplyRequest request = options.multiply;
  request.dense_cols = dense_cols;
  const SpmmProblem problem = problem_of(a, request);
  ProductForecast forecast;
  forecast.dense_cols = dense_cols;
  forecast.output_bytes = dense_bytes(problem.output_rows(), dense_cols, problem.c);
  std::uint64_t host_bytes = beside + a.size_bytes() + forecast.output_bytes +
                             dense_bytes(problem.input_rows(), dense_cols, problem.b);
  if (options.is_gpu) {
    // The transpose is made on the host where the device has no room to sort, while A stands beside it.
    if (problem.transpose_a) host_bytes += csr_bytes(a.cols(), a.nnz(), a.value_kind());
    forecast.plan_bytes = gpu.spmm_bytes(options.kernel, problem);
    forecast.device_peak_bytes = with_driver(*forecast.plan_bytes);
  } else {
    const SpmmKernel& kernel = cpu_spmm_room().find(options.kernel);
    host_bytes += kernel.make_plan(problem, request.plan)->phases().peak_bytes;
  }
  forecast.host_peak_bytes = with_process(options, host_bytes);
  return forecast;
}

std::vector<ProductForecast> forecast_spmm_runs(const ForecastToolOptions& options,
                                                const GpuForecasts& gpu, const CsrMatrix& stored) {
  const CsrMatrix a = converted(stored, options.multiply);
  std::optional<ReadProfile> reads;
  const DeviceProfile* device =
      options.machine ? &options.machine->find(options.is_gpu ? "gpu" : "cpu") : nullptr;
  if (device != nullptr) reads = read_profile(a, *device);
  std::vector<ProductForecast> forecasts;
  for (const Index dense_cols : options.dense_cols) {
    forecasts.push_back(forecast_one_spmm(options, gpu, a, stored_beside(stored, a), dense_cols));
    if (device != nullptr) {
      forecasts.back().seconds = forecast_spmm(*device, *reads, b_row_bytes(a, dense_cols)).seconds;
    }
  }
  return forecasts;
}

ProductForecast forecast_spgemm_run(const ForecastToolOptions& options, const GpuForecasts& gpu,
                                    const CsrMatrix& stored) {
  const CsrMatrix a = converted(stored, options.multiply);
  std::uint64_t beside = stored_beside(stored, a);
  CsrMatrix b = a;
  if (!options.b.empty() && options.b != options.a) {
    const CsrMatrix stored_b = read_csr_file(options.b, options.read).matrix;
    b = converted(stored_b, options.multiply);
    beside += stored_beside(stored_b, b);
  }
  const SpgemmProblem problem = default_spgemm_problem(a, b, options.multiply.transpose_a);
  const Offset output_nnz =
      options.is_bounded ? -1 : spgemm_output_nnz(a, problem.transpose_b ? transpose(b) : b);
  ProductForecast forecast;
  forecast.is_output_bounded = options.is_bounded;
  if (options.is_gpu) {
    const SpgemmForecast plan = gpu.spgemm_forecast(options.kernel, problem, output_nnz,
                                                    options.multiply.plan.memory_limit_bytes);
    forecast.output_bytes = plan.output_bytes_bound;
    forecast.plan_bytes = plan.peak_bytes;
    forecast.device_peak_bytes = with_driver(plan.peak_bytes);
    // The host holds the operands as they are uploaded, the transpose of B among them, and then C.
    std::uint64_t host_bytes = beside + operand_bytes(problem) + plan.output_bytes_bound;
    if (problem.transpose_b) host_bytes += csr_bytes(b.cols(), b.nnz(), b.value_kind());
    forecast.host_peak_bytes = with_process(options, host_bytes);
    return forecast;
  }
  const SpgemmForecast plan =
      cpu_spgemm_room().find(options.kernel).make_plan(problem, options.multiply.plan)->forecast();
  forecast.output_bytes = plan.output_bytes_bound;
  std::uint64_t peak_bytes = plan.peak_bytes;
  if (output_nnz >= 0) {
    forecast.output_bytes = csr_bytes(problem.output_rows(), output_nnz, problem.c);
    peak_bytes =
        std::min(peak_bytes, plan.whole_bytes - plan.output_bytes_bound + forecast.output_bytes);
  }
  if (threads_of(options) > kFewThreads) peak_bytes += std::min(forecast.output_bytes, kKeptBytes);
  forecast.host_peak_bytes = with_process(options, beside + peak_bytes);
  return forecast;
}

}  // namespace

std::uint64_t resident_bytes(bool with_device_libraries) {
  std::ifstream maps("/proc/self/smaps");
  std::uint64_t kilobytes = 0;
  bool counts = true;
  for (std::string line; std::getline(maps, line);) {
    // A mapping begins with its addresses, which no colon follows at once; its facts do.
    if (line.find(':') > line.find(' ')) {
      const std::string file = line.substr(line.rfind('/') + 1);
      // Of the heap, all but a few pages is what those libraries put there; this program,
      // with its kernels for GPUs, is larger than one that has none: kRunBytes stands in for that one.
      const bool is_for_devices = file.rfind("libcu", 0) == 0 || file.rfind("libnv", 0) == 0 ||
                                  file.find("[heap]") != std::string::npos ||
                                  file.rfind("csr-forecast", 0) == 0;
      counts = with_device_libraries || !is_for_devices;
    } else if (counts && line.rfind("Rss:", 0) == 0) {
      kilobytes += std::stoull(line.substr(4));
    }
  }
  constexpr std::uint64_t kKilobyte = 1024;
  return kilobytes * kKilobyte;
}

std::vector<ProductForecast> make_forecasts(const ForecastToolOptions& options,
                                            const GpuForecasts& gpu, const CsrMatrix& stored) {
  if (options.is_spgemm) return {forecast_spgemm_run(options, gpu, stored)};
  return forecast_spmm_runs(options, gpu, stored);
}

}  // namespace csrkit
