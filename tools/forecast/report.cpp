#include "tools/cli/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/team.h"
#include "tools/forecast/forecast.h"
#include "tools/forecast/out_of_core.h"
#include "tools/forecast/slurm_time.h"

namespace csrkit {

namespace {

/// csr-bench measures one width after the other.
double seconds_of(const ForecastToolOptions& options, const std::vector<RunForecast>& runs) {
  double longest = 0, all = 0;
  for (const RunForecast& run : runs) {
    longest = std::max(longest, run.run_seconds);
    all += run.run_seconds;
  }
  return options.of == ForecastOf::bench ? all : longest;
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

Json row_of(const ForecastToolOptions& options, const RunForecast& run) {
  const Forecast& product = run.product;
  return {{"dense_cols", product.dense_cols > 0 ? Json(product.dense_cols) : Json()},
          {"output_bytes", options.kernels.empty() ? Json() : Json(product.output_bytes)},
          {"output_is_bound", product.is_output_bounded},
          {"host_peak_bytes", run.host_peak_bytes},
          {"plan_bytes", json_of(product.plan_bytes)},
          {"device_peak_bytes", json_of(run.device_peak_bytes)},
          {"seconds", product.seconds ? Json(*product.seconds) : Json()},
          {"out_of_core", product.out_of_core ? to_json(*product.out_of_core) : Json()}};
}

std::vector<std::string> slurm_lines(const ForecastToolOptions& options,
                                     const std::vector<RunForecast>& runs) {
  std::uint64_t most_bytes = 0;
  for (const RunForecast& run : runs) most_bytes = std::max(most_bytes, run.host_peak_bytes);
  constexpr std::uint64_t kMebibyte = 1 << 20;
  std::vector<std::string> lines{
      "#SBATCH --cpus-per-task=" + std::to_string(team_size(options.request.plan.where.threads)),
      "#SBATCH --mem=" + std::to_string(with_headroom(most_bytes) / kMebibyte + 1) + "M",
      slurm_time(seconds_of(options, runs))};
  if (options.is_gpu()) lines.emplace_back("#SBATCH --gres=gpu:1");
  return lines;
}

/// What is forecast: the matrix, or its sizes, and the tool.
void describe(const ForecastToolOptions& options, Report* report) {
  if (options.matrices.empty()) {
    report->add("sizes", "sizes", options.options.text("sizes"));
  } else {
    report->add("matrix", "matrix", options.matrices.front());
  }
  if (options.of == ForecastOf::product) {
    report->add("operation", "operation", options.kernel().operation->name());
    report->add("device", "device", options.kernel().room);
    return;
  }
  report->add("tool", "tool", options.options.text("tool"));
  if (options.of == ForecastOf::bench) {
    report->add("kernels", "kernels", options.options.text("kernels"));
  }
  if (options.of == ForecastOf::reorder) report->add("method", "method", options.method);
}

}  // namespace

void report_forecasts(const ForecastToolOptions& options,
                      const std::vector<RunForecast>& forecasts) {
  Report report;
  describe(options, &report);
  std::vector<std::string> headers{"K", "result", "host memory", "time"};
  if (options.is_gpu()) headers.insert(headers.begin() + 3, "device memory");
  TextTable table(headers);
  Json rows = Json::array();
  std::string cuts;
  for (const RunForecast& run : forecasts) {
    const Forecast& product = run.product;
    std::vector<std::string> cells{
        product.dense_cols > 0 ? std::to_string(product.dense_cols) : "-",
        options.kernels.empty()
            ? "-"
            : (product.is_output_bounded ? "at most " : "") + bytes_cell(product.output_bytes),
        bytes_cell(run.host_peak_bytes),
        product.seconds ? readable_seconds(*product.seconds) : "-"};
    if (options.is_gpu()) cells.insert(cells.begin() + 3, bytes_cell(run.device_peak_bytes));
    table.add(std::move(cells));
    rows.push_back(row_of(options, run));
    if (product.out_of_core) {
      cuts += "K = " + std::to_string(product.dense_cols) + ": " + words_of(*product.out_of_core) +
              "\n";
    }
  }
  report.add_json("forecasts", rows);
  report.add_text("\n" + table.text() + cuts);
  const std::vector<std::string> lines = slurm_lines(options, forecasts);
  report.add_json("sbatch", lines);
  std::string text = "\n";
  for (const std::string& line : lines) text += line + "\n";
  report.add_text(text);
  print(report, options.as_json);
}

}  // namespace csrkit
