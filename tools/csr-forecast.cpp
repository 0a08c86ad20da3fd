// csr-forecast: what a product will take before it is run, and what to ask Slurm for.
#include "tools/cli/run_tool.h"
#include "tools/forecast/forecast.h"
#include "tools/forecast/rank_report.h"
#include "tools/forecast/spgemm_ranks.h"

int main(int argc, char** argv) {
  using namespace csrkit;
  return run_tool("csr-forecast", [&] {
    ForecastToolOptions options = parse_forecast_options(argc, argv);
    if (options.is_of_ranks) {
      const bool is_sparse = options.options.text("operation") == "spgemm";
      (is_sparse ? report_spgemm_ranks : report_rank_forecast)(options.options);
      return kExitDone;
    }
    options.process_bytes = resident_bytes(options.is_gpu());  // before there is any matrix
    report_forecasts(options, make_forecasts(options));
    return kExitDone;
  });
}
