#include "tools/operation/operations/out_of_core.h"

#include <nlohmann/json.hpp>

namespace csrkit {

std::vector<OptionRow> out_of_core_options() {
  return {{"out-of-core", "HOW",
           "of operands that exceed the device's memory, or --memory-limit: columns keeps A there "
           "and moves panels of columns of B and C, rows moves blocks of rows of A and C, auto "
           "does what is forecast to take less time, never refuses; auto only if need be",
           "auto"},
          {"panel-cols", "N", "out of core, most columns of a panel (default: by the forecast)"},
          {"panel-major", "",
           "out of core, keep B and C panel by panel in page-locked memory as large as they are: "
           "for many products"}};
}

void read_out_of_core(const Options& options, Request* request) {
  request->out_of_core = options.parsed("out-of-core", parse_out_of_core);
  for (const char* option : {"panel-cols", "panel-major"}) {
    if (options.given(option) && request->out_of_core == OutOfCore::never) {
      throw UsageError("--" + std::string(option) +
                       " is for products out of core, and --out-of-core is never");
    }
  }
  request->is_panel_major = options.flag("panel-major");
  if (!options.given("panel-cols")) return;
  request->most_panel_cols = static_cast<Index>(options.integer("panel-cols", 1, kMaxIndex));
}

Json plan_facts(const OutOfCoreReport& report) {
  return {{"scheme", report.scheme()},
          {"panels", report.panels},
          {"panel_cols", report.panel_cols},
          {"blocks", report.blocks},
          {"bytes_in", report.bytes_in},
          {"bytes_out", report.bytes_out},
          {"device_bytes", report.device_bytes},
          {"staging_bytes", report.staging_bytes},
          {"forecast_seconds", report.forecast_seconds}};
}

void add_copies(OutOfCoreReport report, bool maps_b, bool maps_c, Outcome* outcome) {
  if (!outcome->samples.seconds.empty()) report.seconds = outcome->samples.median_seconds();
  Json facts = plan_facts(report);
  facts["seconds"] = report.seconds;
  facts["copy_gb_per_second"] = report.copy_bytes_per_second * 1e-9;
  facts["copy_share"] = report.copy_share();
  facts["maps_b"] = maps_b;
  facts["maps_c"] = maps_c;
  outcome->facts["out_of_core"] = std::move(facts);
  outcome->lines = {
      {"out of core", readable_bytes(static_cast<double>(report.bytes_in)) + " in, " +
                          readable_bytes(static_cast<double>(report.bytes_out)) +
                          " out; forecast " + readable_seconds(report.forecast_seconds) +
                          ", took " + readable_seconds(report.seconds)},
      {"copies", "alone, at the " + fixed(report.copy_bytes_per_second * 1e-9, 1) +
                     " GB/s measured both ways, they take " + fixed(100 * report.copy_share(), 1) +
                     " % of that"}};
}

}  // namespace csrkit
