#include "tools/forecast/forecast.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/base/team.h"
#include "cpu/common/caches.h"

namespace csrkit {

namespace {

// What a tool takes beside matrices and operands: itself and its libraries, which this tool links
// as well, so that it can look at itself; and OpenMP, buffers of files and the pages of libraries
// that only a run touches. Measured with matrices of a few rows, rounded up.
constexpr std::uint64_t kRunBytes = 3ull << 20;
constexpr std::uint64_t kThreadBytes = 64ull << 10;
// Pages and allocations are rounded up, and freed memory is not always given back at once.
constexpr double kAllowance = 1.05;
// What CUDA takes of the host and of the device for a process that multiplies small matrices
// (driver of CUDA 13.0, H200), rounded up; the pool that plans draw from grows by pieces.
constexpr std::uint64_t kDriverHostBytes = 176ull << 20;
constexpr std::uint64_t kDriverDeviceBytes = 544ull << 20;
constexpr std::uint64_t kPoolPieceBytes = 32ull << 20;

std::uint64_t with_process(const ForecastToolOptions& options, std::uint64_t bytes) {
  const int threads = team_size(options.request.plan.where.threads);
  return options.process_bytes + kRunBytes + (options.is_gpu() ? kDriverHostBytes : 0) +
         kThreadBytes * static_cast<std::uint64_t>(threads) +
         static_cast<std::uint64_t>(kAllowance * static_cast<double>(bytes));
}

/// The matrices as stored and as used, read once for all kernels.
struct ReadMatrices {
  Operands operands;
  std::uint64_t beside = 0;  // bytes as stored, where a converted copy stands beside them
  std::uint64_t used = 0;    // bytes of the operands
  std::uint64_t orders = 0;  // bytes of their orders in the files
};

ReadMatrices read_matrices(const ForecastToolOptions& options) {
  ReadMatrices matrices;
  const auto read = [&](const std::string& path) {
    const CsrFile file = read_csr_file(path, options.read);
    const CsrMatrix& stored = file.matrix;
    for (const auto& order : {file.row_order, file.col_order}) {
      if (order) matrices.orders += sizeof(Index) * static_cast<std::uint64_t>(order->size());
    }
    CsrMatrix used = converted(stored, options.request, path);
    if (used.value_kind() != stored.value_kind()) matrices.beside += stored.size_bytes();
    matrices.used += used.size_bytes();
    return used;
  };
  matrices.operands.a = read(options.matrices.front());
  matrices.operands.b = options.matrices.back() == options.matrices.front()
                            ? matrices.operands.a
                            : read(options.matrices.back());
  matrices.operands.a_name = "'" + options.matrices.front() + "'";
  matrices.operands.b_name = "'" + options.matrices.back() + "'";
  return matrices;
}

std::vector<Forecast> forecasts_of(const ForecastToolOptions& options, const NamedKernel& kernel,
                                   const Operands& operands) {
  ForecastQuery query{kernel.room, kernel.kernel, operands, options.request};
  query.is_host_only = options.of == ForecastOf::bench;
  if (options.machine) query.device = &options.machine->find(kernel.room);
  if (query.device != nullptr && kernel.needs_gpu()) {
    const auto all = static_cast<std::uint64_t>(query.device->memory_bytes);
    constexpr std::uint64_t kDriver = kDriverDeviceBytes + kPoolPieceBytes;
    // A plan leaves the driver some of what is free, for kernels that are still to be loaded.
    constexpr std::uint64_t kShares = 32;
    if (all > kDriver) query.device_memory_bytes = (all - kDriver) / kShares * (kShares - 1);
  }
  return kernel.operation->forecasts(query, options.options);
}

/// Of one product, without a machine profile: its memory read and written ten times at a slow
/// core's speed.
double product_seconds(const Forecast& product) {
  constexpr double kBytesPerSecond = 2e9, kPasses = 10;
  return product.seconds.value_or(kPasses * static_cast<double>(product.host_bytes) /
                                  kBytesPerSecond);
}

/// Reading A once, and what CUDA needs to start.
double fixed_seconds(const ForecastToolOptions& options, const Forecast& product) {
  constexpr double kReadBytesPerSecond = 2e8, kDriverSeconds = 10;
  return static_cast<double>(product.matrix_bytes) / kReadBytesPerSecond +
         (options.is_gpu() ? kDriverSeconds : 0);
}

std::vector<RunForecast> product_forecasts(const ForecastToolOptions& options) {
  const ReadMatrices matrices = read_matrices(options);
  // Those of a sparse C's operands wait until they go into its file: beside what was read, an order
  // and its inverse.
  const auto& endings = options.kernel().operation->facts().output_endings;
  const bool is_sparse = std::find(endings.begin(), endings.end(), ".csr") != endings.end();
  const std::uint64_t orders = (is_sparse ? 3 : 1) * matrices.orders;
  std::vector<RunForecast> forecasts;
  for (const Forecast& product : forecasts_of(options, options.kernel(), matrices.operands)) {
    // What was stored is gone before a product is planned.
    const std::uint64_t bytes =
        std::max(matrices.beside + matrices.used, product.host_bytes) + orders;
    RunForecast run{product, with_process(options, bytes), std::nullopt};
    run.run_seconds =
        fixed_seconds(options, product) + product_seconds(product) * options.request.stop.repeat;
    if (product.plan_bytes) {
      constexpr double kMoveBytesPerSecond = 2e9;
      run.device_peak_bytes = kDriverDeviceBytes + kPoolPieceBytes + *product.plan_bytes;
      run.run_seconds += static_cast<double>(*product.plan_bytes) / kMoveBytesPerSecond;
    }
    forecasts.push_back(run);
  }
  return forecasts;
}

/// Kernels take turns, so all of one width are in memory at once, each with its operands.
std::vector<RunForecast> bench_forecasts(const ForecastToolOptions& options) {
  const ReadMatrices matrices = read_matrices(options);
  const CsrMatrix& a = matrices.operands.a;
  // Records, and the judge's transpose of A.
  constexpr std::uint64_t kRecordBytes = 4ull << 20;
  const std::uint64_t shared = matrices.beside + a.size_bytes() + kRecordBytes +
                               (options.request.transpose ? a.size_bytes() : 0);
  // A case is planned, checked and warmed up; the check is worth some products.
  constexpr double kUntimedProducts = 24;
  const std::uint64_t evictor =
      options.is_cold ? 2 * cpu::cache_sizes().last_level_bytes : std::uint64_t{0};
  std::vector<RunForecast> runs;
  std::vector<std::uint64_t> bytes;
  for (const NamedKernel& kernel : options.kernels) {
    const std::vector<Forecast> products = forecasts_of(options, kernel, matrices.operands);
    for (std::size_t turn = 0; turn < products.size(); ++turn) {
      if (turn == runs.size()) {
        runs.push_back({products[turn], 0, std::nullopt, fixed_seconds(options, products[turn])});
        bytes.push_back(shared);
      }
      Forecast& largest = runs[turn].product;
      if (products[turn].host_bytes > largest.host_bytes) largest = products[turn];
      bytes[turn] += products[turn].host_bytes - a.size_bytes() + evictor;
      runs[turn].run_seconds +=
          (options.max_seconds + kUntimedProducts * product_seconds(products[turn])) *
          (options.is_cold ? 2 : 1);
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].host_peak_bytes = with_process(options, bytes[i]);
  }
  return runs;
}

/// A tool that multiplies nothing. Python is not this process.
RunForecast of_tool(const ForecastToolOptions& options, const ToolForecast& tool) {
  RunForecast run;
  run.run_seconds = tool.seconds;
  run.host_peak_bytes =
      options.of == ForecastOf::report ? tool.bytes : with_process(options, tool.bytes);
  return run;
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
      // with its kernels for GPUs, is larger than one that has none: kRunBytes stands in for that
      // one.
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

std::vector<RunForecast> make_forecasts(const ForecastToolOptions& options) {
  const int threads = team_size(options.request.plan.where.threads);
  switch (options.of) {
    case ForecastOf::product: return product_forecasts(options);
    case ForecastOf::bench: return bench_forecasts(options);
    case ForecastOf::import: return {of_tool(options, forecast_import(*options.sizes, threads))};
    case ForecastOf::reorder:
      return {of_tool(options, forecast_reordering(*options.sizes, options.method, threads))};
    case ForecastOf::report: return {of_tool(options, forecast_report(*options.sizes))};
  }
  return {};
}

}  // namespace csrkit
