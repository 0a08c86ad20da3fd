// What an order is worth, in the same words and JSON keys in every tool.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/facts/locality.h"
#include "core/facts/spmm_forecast.h"
#include "tools/cli/json.h"
#include "tools/cli/options.h"
#include "tools/cli/report.h"

namespace csrkit {

/// The caches that every report speaks of: a core's share, and one that many share.
inline constexpr double kReportedCaches[] = {1 << 20, 60 << 20};

/// The widths of B that --locality, --report and --advise look at.
struct LocalityRequest {
  std::vector<Index> dense_cols = {32, 128, 256};
  std::optional<MachineProfile> machine;  // without it, no forecasts
  bool is_measured = false;               // multiply on the CPU as well
};

/// -k and --machine; the file is read here, so that a wrong one is refused before work is done.
void declare_locality_options(Options& options);
LocalityRequest read_locality_options(const Options& options);

/// Reads of B through one cache of a size, for B of one width. Bytes are those of one product that
/// starts with an empty cache; the minimum reads A and the rows of B that are needed, and writes C.
struct CacheFacts {
  Index dense_cols = 0;
  double cache_bytes = 0;
  double hit_share = 0, hit_share_error = 0;
  double moved_bytes = 0, minimum_bytes = 0;

  double moved_over_minimum() const { return minimum_bytes > 0 ? moved_bytes / minimum_bytes : 1; }
};

struct DeviceForecast {
  std::string device;
  Index dense_cols = 0;
  SpmmForecast spmm;
};

struct LocalityFacts {
  LocalityProfile pattern;
  bool is_exact = true;
  double sampled_share = 1;
  std::vector<CacheFacts> caches;         // dense_cols x kReportedCaches
  std::vector<DeviceForecast> forecasts;  // devices x dense_cols
  std::vector<double> measured_seconds;   // by dense_cols; empty if not asked for
};

LocalityFacts locality_facts(const CsrMatrix& matrix, const LocalityRequest& request);
Json to_json(const LocalityFacts& facts);

/// The tables of one order, and of two beside each other. `cost_seconds` is what the change of
/// order took: from it and the gain follows after how many products it has paid back.
void add_locality(Report& report, const LocalityFacts& facts, const LocalityRequest& request);
void add_locality_change(Report& report, const LocalityFacts& before, const LocalityFacts& after,
                         double cost_seconds, const LocalityRequest& request);

/// Products after which `cost_seconds` are paid back, at least 1; nothing if they never are.
std::optional<double> break_even(double cost_seconds, double seconds_before, double seconds_after);
/// "after 310", "after 1.2e+06", "never".
std::string break_even_text(const std::optional<double>& products);

}  // namespace csrkit
