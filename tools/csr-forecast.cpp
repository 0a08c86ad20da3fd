// csr-forecast: what a product on the CPU will take before it is run, and what to ask Slurm for.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/csr_file.h"
#include "tools/support/kernel_room.h"
#include "tools/support/locality_report.h"
#include "tools/support/machine.h"
#include "tools/support/matrix_input.h"
#include "tools/support/profile_file.h"
#include "tools/support/report.h"
#include "tools/support/run_tool.h"
#include "tools/support/spgemm_tool.h"

using namespace csrkit;

namespace {

struct ForecastToolOptions {
  std::string a;
  std::string b;  // "" = A
  bool is_spgemm = false;
  std::string kernel;
  std::vector<Index> dense_cols;
  MultiplyRequest multiply;
  std::optional<MachineProfile> machine;
  CsrReadOptions read;
  std::uint64_t process_bytes = 0;  // in memory before there is any matrix
  bool as_json = false;
};

struct ProductForecast {
  Index dense_cols = 0;  // 0: a sparse product
  std::uint64_t output_bytes = 0;
  std::uint64_t host_peak_bytes = 0;
  std::optional<double> seconds;
};

// What a tool takes beside matrices and operands: itself and its libraries, which this tool links as
// well, so that it can look at itself; and OpenMP, buffers of files and the pages of libraries that only
// a run touches. Measured with matrices of a few rows, rounded up.
constexpr std::uint64_t kRunBytes = 3ull << 20;
constexpr std::uint64_t kThreadBytes = 64ull << 10;
// Pages and allocations are rounded up, and freed memory is not always given back at once.
constexpr double kAllowance = 1.02;

/// The kernels of both operations.
std::string list_both(bool as_json) {
  const std::string spmm = list_kernels({cpu_spmm_room()}, as_json);
  const std::string spgemm = list_kernels(cpu_spgemm_room(), as_json);
  if (!as_json) return spmm + "\n" + spgemm;
  Json rows = Json::parse(spmm);
  for (Json& row : Json::parse(spgemm)) rows.push_back(row);
  return rows.dump() + "\n";
}

ForecastToolOptions parse_forecast_options(int argc, char** argv) {
  Options options(
      "csr-forecast", "A.csr [B.csr]", 1, 2,
      "Says what csr-spmm-cpu or csr-spgemm-cpu will take before they run: memory, size "
      "of the result, time, and the lines that ask Slurm for it. Reads A and plans, but "
      "makes no operand and multiplies nothing. Memory is that of a run without --check; for "
      "spgemm "
      "the result is bounded, not known, before it is made.");
  options
      .value("operation", "NAME", "spmm (A times a dense B) or spgemm (A times B.csr, or A)",
             "spmm")
      .value("kernel", "NAME", "which kernel will run", "auto")
      .value("k,dense-cols", "LIST", "spmm: columns of B and C", "32,256")
      .value("repeat", "N", "products, for the time to ask for", "12")
      .flag("transpose", "spmm: multiply by the transpose of A; spgemm: by that of B")
      .value("value-kind", "KIND", "convert A first: none, f32, f64, f16 or bf16")
      .value("memory-limit", "SIZE", "spgemm: as it will be given to csr-spgemm-cpu")
      .value("machine", "FILE.json",
             "spmm: forecast times for this machine profile (see csr-probe)")
      .value("threads", "N", "OpenMP threads")
      .example("csr-forecast tiny.csr -k 8,64", "memory of two products")
      .example("csr-forecast tiny.csr --operation spgemm --json", "A times A");
  options.on_list([](bool as_json) { return list_both(as_json); });
  declare_io(options);
  options.parse(argc, argv);
  ForecastToolOptions result;
  result.a = options.names()[0];
  if (options.names().size() == 2) result.b = options.names()[1];
  result.is_spgemm = options.choice("operation", {"spmm", "spgemm"}) == "spgemm";
  if (!result.b.empty() && !result.is_spgemm) {
    throw UsageError("a second matrix is for --operation spgemm");
  }
  for (const char* name : {"dense-cols", "machine"}) {
    if (options.given(name) && result.is_spgemm) {
      throw UsageError(std::string("--") + name + " is for --operation spmm");
    }
  }
  if (options.given("memory-limit") && !result.is_spgemm) {
    throw UsageError("--memory-limit is for --operation spgemm: spmm takes what it takes");
  }
  result.kernel = options.text("kernel");
  for (const std::int64_t cols : options.integers("dense-cols", 1, kMaxIndex)) {
    result.dense_cols.push_back(static_cast<Index>(cols));
  }
  constexpr int kMaxRuns = 1000000;
  result.multiply.stop.repeat = static_cast<int>(options.integer("repeat", 1, kMaxRuns));
  result.multiply.transpose_a = options.flag("transpose");
  if (options.given("value-kind")) {
    result.multiply.value_kind = options.parsed("value-kind", parse_value_kind);
  }
  if (options.given("memory-limit")) {
    result.multiply.plan.memory_limit_bytes = options.bytes("memory-limit");
  }
  if (options.given("machine") && result.multiply.transpose_a) {
    throw UsageError("times are forecast for A as it stands: leave out --machine or --transpose");
  }
  if (options.given("machine")) result.machine = read_machine_profile(options.text("machine"));
  if (options.given("threads")) {
    result.multiply.plan.where.threads = static_cast<int>(options.integer("threads", 1, 4096));
  }
  result.read = read_options(options);
  result.as_json = options.json();
  return result;
}

int threads_of(const ForecastToolOptions& options) {
  return machine_facts(options.multiply.plan.where.threads)["threads"].get<int>();
}

/// Bytes of this process that are in memory now.
std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total_pages = 0, resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t with_process(const ForecastToolOptions& options, std::uint64_t bytes) {
  return options.process_bytes + kRunBytes +
         kThreadBytes * static_cast<std::uint64_t>(threads_of(options)) +
         static_cast<std::uint64_t>(kAllowance * static_cast<double>(bytes));
}

/// A as stored, if a converted copy stands beside it while the product runs.
std::uint64_t stored_beside(const CsrMatrix& stored, const CsrMatrix& used) {
  return stored.value_kind() == used.value_kind() ? 0 : stored.size_bytes();
}

std::vector<ProductForecast> forecast_spmm_runs(const ForecastToolOptions& options,
                                                const CsrMatrix& stored) {
  const CsrMatrix a = converted(stored, options.multiply);
  const SpmmKernel& kernel = cpu_spmm_room().find(options.kernel);
  std::optional<ReadProfile> reads;
  const DeviceProfile* device = options.machine ? &options.machine->find("cpu") : nullptr;
  if (device != nullptr) reads = read_profile(a, *device);
  std::vector<ProductForecast> forecasts;
  for (const Index dense_cols : options.dense_cols) {
    MultiplyRequest request = options.multiply;
    request.dense_cols = dense_cols;
    const SpmmProblem problem = problem_of(a, request);
    const auto dense_bytes = [&](Index rows, ValueKind kind) {
      return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(dense_cols) *
             static_cast<std::uint64_t>(size_of(kind));
    };
    ProductForecast forecast;
    forecast.dense_cols = dense_cols;
    forecast.output_bytes = dense_bytes(problem.output_rows(), problem.c);
    const std::uint64_t plan_bytes = kernel.make_plan(problem, request.plan)->phases().peak_bytes;
    forecast.host_peak_bytes = with_process(
        options, stored_beside(stored, a) + a.size_bytes() + plan_bytes +
                     dense_bytes(problem.input_rows(), problem.b) + forecast.output_bytes);
    if (device != nullptr) {
      forecast.seconds = forecast_spmm(*device, *reads, b_row_bytes(a, dense_cols)).seconds;
    }
    forecasts.push_back(forecast);
  }
  return forecasts;
}

ProductForecast forecast_spgemm_run(const ForecastToolOptions& options, const CsrMatrix& stored) {
  const CsrMatrix a = converted(stored, options.multiply);
  std::uint64_t beside = stored_beside(stored, a);
  CsrMatrix b = a;
  if (!options.b.empty() && options.b != options.a) {
    const CsrMatrix stored_b = read_csr_file(options.b, options.read).matrix;
    b = converted(stored_b, options.multiply);
    beside += stored_beside(stored_b, b);
  }
  const SpgemmProblem problem = default_spgemm_problem(a, b, options.multiply.transpose_a);
  const SpgemmForecast plan =
      cpu_spgemm_room().find(options.kernel).make_plan(problem, options.multiply.plan)->forecast();
  ProductForecast forecast;
  forecast.output_bytes = plan.output_bytes_bound;
  forecast.host_peak_bytes = with_process(options, beside + plan.peak_bytes);
  return forecast;
}

/// Reading A once, then the products; twice that, for other jobs share the machine; in minutes.
std::int64_t minutes_to_ask_for(const ForecastToolOptions& options, const CsrMatrix& a,
                                const ProductForecast& forecast) {
  constexpr double kReadBytesPerSecond = 2e8, kSecondsPerMinute = 60;
  const double seconds = static_cast<double>(a.size_bytes()) / kReadBytesPerSecond +
                         forecast.seconds.value_or(0) * options.multiply.stop.repeat;
  return static_cast<std::int64_t>(std::ceil(2 * seconds / kSecondsPerMinute)) + 1;
}

void report_forecasts(const ForecastToolOptions& options, const CsrMatrix& a,
                      const std::vector<ProductForecast>& forecasts) {
  Report report;
  report.add("matrix", "matrix", options.a);
  report.add("operation", "operation", options.is_spgemm ? "spgemm" : "spmm");
  TextTable table({"K", "result", "host memory", "time"});
  Json rows = Json::array();
  const ProductForecast* largest = &forecasts.front();
  for (const ProductForecast& forecast : forecasts) {
    if (forecast.host_peak_bytes > largest->host_peak_bytes) largest = &forecast;
    table.add({forecast.dense_cols > 0 ? std::to_string(forecast.dense_cols) : "-",
               readable_bytes(static_cast<double>(forecast.output_bytes)),
               readable_bytes(static_cast<double>(forecast.host_peak_bytes)),
               forecast.seconds ? readable_seconds(*forecast.seconds) : "-"});
    rows.push_back({{"dense_cols", forecast.dense_cols > 0 ? Json(forecast.dense_cols) : Json()},
                    {"output_bytes", forecast.output_bytes},
                    {"host_peak_bytes", forecast.host_peak_bytes},
                    {"seconds", forecast.seconds ? Json(*forecast.seconds) : Json()}});
  }
  report.add_json("forecasts", rows);
  report.add_text("\n" + table.text());
  constexpr std::uint64_t kMebibyte = 1 << 20;
  std::vector<std::string> lines{
      "#SBATCH --cpus-per-task=" + std::to_string(threads_of(options)),
      "#SBATCH --mem=" + std::to_string(largest->host_peak_bytes / kMebibyte + 1) + "M"};
  if (largest->seconds) {
    lines.push_back("#SBATCH --time=" + std::to_string(minutes_to_ask_for(options, a, *largest)));
  }
  report.add_json("sbatch", lines);
  std::string text = "\n";
  for (const std::string& line : lines) text += line + "\n";
  report.add_text(text);
  print(report, options.as_json);
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool("csr-forecast", [&] {
    ForecastToolOptions options = parse_forecast_options(argc, argv);
    options.process_bytes = resident_bytes();  // before there is any matrix
    const CsrMatrix stored = read_csr_file(options.a, options.read).matrix;
    const std::vector<ProductForecast> forecasts =
        options.is_spgemm ? std::vector<ProductForecast>{forecast_spgemm_run(options, stored)}
                          : forecast_spmm_runs(options, stored);
    report_forecasts(options, stored, forecasts);
    return kExitDone;
  });
}
