#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/support/forecast.h"
#include "tools/support/machine.h"
#include "tools/support/report.h"

namespace csrkit {

namespace {

/// Reading A once, starting CUDA, moving the operands and the result, then the products; twice that,
/// for other jobs share the machine; in minutes.
std::int64_t minutes_to_ask_for(const ForecastToolOptions& options, const CsrMatrix& a,
                                const ProductForecast& forecast) {
  constexpr double kReadBytesPerSecond = 2e8, kMoveBytesPerSecond = 2e9, kSecondsPerMinute = 60;
  constexpr double kDriverSeconds = 10;
  double seconds = static_cast<double>(a.size_bytes()) / kReadBytesPerSecond +
                   forecast.seconds.value_or(0) * options.multiply.stop.repeat;
  if (forecast.plan_bytes) {
    seconds += kDriverSeconds + static_cast<double>(*forecast.plan_bytes) / kMoveBytesPerSecond;
  }
  return static_cast<std::int64_t>(std::ceil(2 * seconds / kSecondsPerMinute)) + 1;
}

std::string bytes_cell(const std::optional<std::uint64_t>& bytes) {
  return bytes ? readable_bytes(static_cast<double>(*bytes)) : "-";
}

Json json_of(const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(); }

Json row_of(const ProductForecast& forecast) {
  return {{"dense_cols", forecast.dense_cols > 0 ? Json(forecast.dense_cols) : Json()},
          {"output_bytes", forecast.output_bytes},
          {"output_is_bound", forecast.is_output_bounded},
          {"host_peak_bytes", forecast.host_peak_bytes},
          {"plan_bytes", json_of(forecast.plan_bytes)},
          {"device_peak_bytes", json_of(forecast.device_peak_bytes)},
          {"seconds", forecast.seconds ? Json(*forecast.seconds) : Json()}};
}

std::vector<std::string> slurm_lines(const ForecastToolOptions& options, const CsrMatrix& a,
                                     const ProductForecast& largest) {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  const int threads = machine_facts(options.multiply.plan.where.threads)["threads"].get<int>();
  std::vector<std::string> lines{
      "#SBATCH --cpus-per-task=" + std::to_string(threads),
      "#SBATCH --mem=" + std::to_string(largest.host_peak_bytes / kMebibyte + 1) + "M"};
  if (options.is_gpu) lines.emplace_back("#SBATCH --gres=gpu:1");
  if (largest.seconds) {
    lines.push_back("#SBATCH --time=" + std::to_string(minutes_to_ask_for(options, a, largest)));
  }
  return lines;
}

}  // namespace

void report_forecasts(const ForecastToolOptions& options, const CsrMatrix& stored,
                      const std::vector<ProductForecast>& forecasts) {
  Report report;
  report.add("matrix", "matrix", options.a);
  report.add("operation", "operation", options.is_spgemm ? "spgemm" : "spmm");
  report.add("device", "device", options.is_gpu ? "gpu" : "cpu");
  std::vector<std::string> headers{"K", "result", "host memory", "time"};
  if (options.is_gpu) headers.insert(headers.begin() + 3, "device memory");
  TextTable table(headers);
  Json rows = Json::array();
  const ProductForecast* largest = &forecasts.front();
  for (const ProductForecast& forecast : forecasts) {
    if (forecast.host_peak_bytes > largest->host_peak_bytes) largest = &forecast;
    std::vector<std::string> cells{
        forecast.dense_cols > 0 ? std::to_string(forecast.dense_cols) : "-",
        (forecast.is_output_bounded ? "at most " : "") + bytes_cell(forecast.output_bytes),
        bytes_cell(forecast.host_peak_bytes),
        forecast.seconds ? readable_seconds(*forecast.seconds) : "-"};
    if (options.is_gpu) cells.insert(cells.begin() + 3, bytes_cell(forecast.device_peak_bytes));
    table.add(std::move(cells));
    rows.push_back(row_of(forecast));
  }
  report.add_json("forecasts", rows);
  report.add_text("\n" + table.text());
  const std::vector<std::string> lines = slurm_lines(options, stored, *largest);
  report.add_json("sbatch", lines);
  std::string text = "\n";
  for (const std::string& line : lines) text += line + "\n";
  report.add_text(text);
  print(report, options.as_json);
}

}  // namespace csrkit
