#include "tools/cli/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/team.h"
#include "tools/forecast/forecast.h"

namespace csrkit {

namespace {

/// Reading A once, starting CUDA, moving the operands and the result, then the products; twice
/// that, for other jobs share the machine; in minutes. Without a machine profile a product is
/// taken to read and write its memory ten times at a slow core's speed.
std::int64_t minutes_to_ask_for(const ForecastToolOptions& options, const RunForecast& run) {
  constexpr double kReadBytesPerSecond = 2e8, kMoveBytesPerSecond = 2e9, kSecondsPerMinute = 60;
  constexpr double kDriverSeconds = 10;
  const Forecast& product = run.product;
  constexpr double kPasses = 10;
  const double unknown_seconds =
      kPasses * static_cast<double>(run.host_peak_bytes) / kMoveBytesPerSecond;
  double seconds = static_cast<double>(product.matrix_bytes) / kReadBytesPerSecond +
                   product.seconds.value_or(unknown_seconds) * options.request.stop.repeat;
  if (product.plan_bytes) {
    seconds += kDriverSeconds + static_cast<double>(*product.plan_bytes) / kMoveBytesPerSecond;
  }
  return static_cast<std::int64_t>(std::ceil(2 * seconds / kSecondsPerMinute)) + 1;
}

/// What to ask Slurm for: a run that peaks a little above its forecast is not killed for it.
std::uint64_t with_headroom(std::uint64_t bytes) {
  constexpr std::uint64_t kShare = 10, kLeastBytes = 16ull << 20;
  return bytes + std::max(bytes / kShare, kLeastBytes);
}

std::string bytes_cell(const std::optional<std::uint64_t>& bytes) {
  return bytes ? readable_bytes(static_cast<double>(*bytes)) : "-";
}

Json json_of(const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(); }

Json row_of(const RunForecast& run) {
  const Forecast& product = run.product;
  return {{"dense_cols", product.dense_cols > 0 ? Json(product.dense_cols) : Json()},
          {"output_bytes", product.output_bytes},
          {"output_is_bound", product.is_output_bounded},
          {"host_peak_bytes", run.host_peak_bytes},
          {"plan_bytes", json_of(product.plan_bytes)},
          {"device_peak_bytes", json_of(run.device_peak_bytes)},
          {"seconds", product.seconds ? Json(*product.seconds) : Json()}};
}

std::vector<std::string> slurm_lines(const ForecastToolOptions& options,
                                     const RunForecast& largest) {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  std::vector<std::string> lines{
      "#SBATCH --cpus-per-task=" + std::to_string(team_size(options.request.plan.where.threads)),
      "#SBATCH --mem=" + std::to_string(with_headroom(largest.host_peak_bytes) / kMebibyte + 1) +
          "M",
      "#SBATCH --time=" + std::to_string(minutes_to_ask_for(options, largest))};
  if (options.is_gpu()) lines.emplace_back("#SBATCH --gres=gpu:1");
  return lines;
}

}  // namespace

void report_forecasts(const ForecastToolOptions& options,
                      const std::vector<RunForecast>& forecasts) {
  Report report;
  report.add("matrix", "matrix", options.matrices.front());
  report.add("operation", "operation", options.kernel.operation->name());
  report.add("device", "device", options.kernel.room);
  std::vector<std::string> headers{"K", "result", "host memory", "time"};
  if (options.is_gpu()) headers.insert(headers.begin() + 3, "device memory");
  TextTable table(headers);
  Json rows = Json::array();
  const RunForecast* largest = &forecasts.front();
  for (const RunForecast& run : forecasts) {
    const Forecast& product = run.product;
    if (run.host_peak_bytes > largest->host_peak_bytes) largest = &run;
    std::vector<std::string> cells{
        product.dense_cols > 0 ? std::to_string(product.dense_cols) : "-",
        (product.is_output_bounded ? "at most " : "") + bytes_cell(product.output_bytes),
        bytes_cell(run.host_peak_bytes),
        product.seconds ? readable_seconds(*product.seconds) : "-"};
    if (options.is_gpu()) cells.insert(cells.begin() + 3, bytes_cell(run.device_peak_bytes));
    table.add(std::move(cells));
    rows.push_back(row_of(run));
  }
  report.add_json("forecasts", rows);
  report.add_text("\n" + table.text());
  const std::vector<std::string> lines = slurm_lines(options, *largest);
  report.add_json("sbatch", lines);
  std::string text = "\n";
  for (const std::string& line : lines) text += line + "\n";
  report.add_text(text);
  print(report, options.as_json);
}

}  // namespace csrkit
