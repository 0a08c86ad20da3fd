#include "tools/forecast/forecast.h"

#include <fstream>
#include <string>

#include "core/base/team.h"

namespace csrkit {

namespace {

// What a tool takes beside matrices and operands: itself and its libraries, which this tool links
// as well, so that it can look at itself; and OpenMP, buffers of files and the pages of libraries
// that only a run touches. Measured with matrices of a few rows, rounded up.
constexpr std::uint64_t kRunBytes = 2ull << 20;
constexpr std::uint64_t kThreadBytes = 64ull << 10;
// Pages and allocations are rounded up, and freed memory is not always given back at once.
constexpr double kAllowance = 1.02;
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
  std::uint64_t beside = 0;  // matrices as stored, where a converted copy stands beside them
  const auto read = [&](const std::string& path) {
    const CsrMatrix stored = read_csr_file(path, options.read).matrix;
    CsrMatrix used = converted(stored, options.request);
    if (used.value_kind() != stored.value_kind()) beside += stored.size_bytes();
    return used;
  };
  ForecastQuery query{options.kernel.room, options.kernel.kernel, {}, options.request};
  query.operands.a = read(options.matrices.front());
  query.operands.b = options.matrices.back() == options.matrices.front()
                         ? query.operands.a
                         : read(options.matrices.back());
  if (options.machine) query.device = &options.machine->find(options.kernel.room);
  std::vector<RunForecast> forecasts;
  for (const Forecast& product : options.kernel.operation->forecasts(query, options.options)) {
    RunForecast run{product, with_process(options, beside + product.host_bytes), std::nullopt};
    if (product.plan_bytes) {
      run.device_peak_bytes = kDriverDeviceBytes + kPoolPieceBytes + *product.plan_bytes;
    }
    forecasts.push_back(run);
  }
  return forecasts;
}

}  // namespace csrkit
