#include "tools/advise/locality_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/contract/spmm.h"
#include "core/matrix/dense_matrix.h"
#include "cpu/common/kernels.h"
#include "tools/forecast/profile_file.h"
#include "tools/operation/product/measure.h"

namespace csrkit {

namespace {

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

CacheFacts cache_facts(const CsrMatrix& matrix, const ReuseProfile& reads, Index dense_cols,
                       double cache_bytes) {
  const SpmmProblem problem = default_spmm_problem(matrix, dense_cols);
  const double row_bytes = b_row_bytes(matrix, dense_cols);
  const double capacity = std::floor(cache_bytes / row_bytes);
  CacheFacts facts;
  facts.dense_cols = dense_cols;
  facts.cache_bytes = cache_bytes;
  facts.hit_share = reads.hit_share(capacity);
  facts.hit_share_error = reads.hit_share_error(capacity);
  const double others = static_cast<double>(matrix.size_bytes()) +
                        static_cast<double>(matrix.rows()) * dense_cols * size_of(problem.c);
  facts.moved_bytes = others + reads.reads() * (1 - facts.hit_share) * row_bytes;
  facts.minimum_bytes = others + reads.first_reads() * row_bytes;
  return facts;
}

double measured_seconds(const CsrMatrix& matrix, Index dense_cols) {
  const SpmmProblem problem = default_spmm_problem(matrix, dense_cols);
  const auto plan = find_kernel(cpu::spmm_kernels(), "auto").make_plan(problem, {});
  DenseMatrix b(problem.input_rows(), dense_cols, problem.b);
  DenseMatrix c(problem.output_rows(), dense_cols, problem.c);
  fill_random(b.view(), 1);
  fill_random(c.view(), 2);
  plan->bind(b.view(), c.view());
  plan->time_multiply();
  const double once = plan->time_multiply();
  const int repeat = static_cast<int>(std::clamp(2 / std::max(once, 1e-6), 5.0, 50.0));
  return measure(0, repeat, [&] { return plan->time_multiply(); }).median_seconds();
}

/// The measures of the pattern: label, and the value as text.
std::vector<std::pair<std::string, std::string>> pattern_lines(const LocalityProfile& pattern) {
  return {{"bandwidth", with_commas(pattern.bandwidth)},
          {"profile", with_commas(pattern.envelope)},
          {"mean |i - j| / n", fixed(pattern.mean_distance, 4)},
          {"nonzeros per touched 32x32 tile", fixed(pattern.entries_per_touched_tile, 2)},
          {"nonzeros per touched 8x1 vector", fixed(pattern.entries_per_vector_of_8, 2)},
          {"nonzeros per touched 16x1 vector", fixed(pattern.entries_per_vector_of_16, 2)},
          {"distinct columns per 64 rows", fixed(pattern.distinct_cols_per_window, 1)},
          {"nonzeros per such column", fixed(pattern.entries_per_window_column, 2)}};
}

std::string how_simulated(const LocalityFacts& facts) {
  if (facts.is_exact) return "every read simulated";
  return percent(facts.sampled_share) + " of the reads simulated, +- is one standard error";
}

std::string share_text(const CacheFacts& cache) {
  return percent(cache.hit_share) +
         (cache.hit_share_error > 0 ? " +- " + fixed(100 * cache.hit_share_error, 1) : "");
}

std::string cache_label(const CacheFacts& cache) {
  return "K = " + std::to_string(cache.dense_cols) + ", " + readable_bytes(cache.cache_bytes);
}

Json to_json(const CacheFacts& cache) {
  return {{"dense_cols", cache.dense_cols},
          {"cache_bytes", count_json(cache.cache_bytes)},
          {"hit_share", cache.hit_share},
          {"hit_share_error", cache.hit_share_error},
          {"moved_bytes", count_json(cache.moved_bytes)},
          {"minimum_bytes", count_json(cache.minimum_bytes)},
          {"moved_over_minimum", cache.moved_over_minimum()}};
}

}  // namespace

void declare_locality_options(Options& options) {
  options.value("k,dense-cols", "N,N", "widths of B for locality and forecasts", "32,128,256")
      .value("machine", "FILE.json",
             "forecast SpMM times for this machine profile (see csr-probe)");
}

LocalityRequest read_locality_options(const Options& options) {
  LocalityRequest request;
  request.dense_cols.clear();
  for (const std::int64_t cols : options.different_integers("dense-cols", 1, kMaxIndex)) {
    request.dense_cols.push_back(static_cast<Index>(cols));
  }
  if (options.given("machine")) request.machine = read_machine_profile(options.text("machine"));
  return request;
}

LocalityFacts locality_facts(const CsrMatrix& matrix, const LocalityRequest& request) {
  LocalityFacts facts;
  facts.pattern = locality_profile(matrix);
  const ReuseProfile reads = reuse_profile(matrix);
  facts.is_exact = reads.is_exact();
  facts.sampled_share = reads.sampled_share();
  for (const Index dense_cols : request.dense_cols) {
    for (const double cache_bytes : kReportedCaches) {
      facts.caches.push_back(cache_facts(matrix, reads, dense_cols, cache_bytes));
    }
  }
  if (request.machine) {
    for (const DeviceProfile& device : request.machine->devices) {
      const ReadProfile of_device = read_profile(matrix, device);
      for (const Index dense_cols : request.dense_cols) {
        facts.forecasts.push_back(
            {device.device, dense_cols,
             forecast_spmm(device, of_device, b_row_bytes(matrix, dense_cols))});
      }
    }
  }
  if (request.is_measured) {
    for (const Index dense_cols : request.dense_cols) {
      facts.measured_seconds.push_back(measured_seconds(matrix, dense_cols));
    }
  }
  return facts;
}

Json to_json(const LocalityFacts& facts) {
  Json caches = Json::array(), forecasts = Json::array();
  for (const CacheFacts& cache : facts.caches) caches.push_back(to_json(cache));
  for (const DeviceForecast& forecast : facts.forecasts) {
    forecasts.push_back({{"device", forecast.device},
                         {"dense_cols", forecast.dense_cols},
                         {"seconds", forecast.spmm.seconds},
                         {"reads_seconds", forecast.spmm.reads_seconds},
                         {"rows_seconds", forecast.spmm.rows_seconds},
                         {"private_hit_share", forecast.spmm.private_hit_share},
                         {"hit_share", forecast.spmm.hit_share}});
  }
  const LocalityProfile& pattern = facts.pattern;
  return {{"bandwidth", pattern.bandwidth},
          {"profile", pattern.envelope},
          {"mean_distance", pattern.mean_distance},
          {"entries_per_touched_tile", pattern.entries_per_touched_tile},
          {"entries_per_vector_of_8", pattern.entries_per_vector_of_8},
          {"entries_per_vector_of_16", pattern.entries_per_vector_of_16},
          {"distinct_cols_per_window", pattern.distinct_cols_per_window},
          {"entries_per_window_column", pattern.entries_per_window_column},
          {"is_exact", facts.is_exact},
          {"sampled_share", facts.sampled_share},
          {"caches", caches},
          {"forecasts", forecasts},
          {"measured_seconds", facts.measured_seconds}};
}

void add_locality(Report& report, const LocalityFacts& facts, const LocalityRequest& request) {
  report.add_json("locality", to_json(facts));
  for (const auto& [label, text] : pattern_lines(facts.pattern)) report.add_line(label, text);
  TextTable caches({"B, cache", "reads that hit", "moved", "of the minimum"});
  for (const CacheFacts& cache : facts.caches) {
    caches.add({cache_label(cache), share_text(cache), readable_bytes(cache.moved_bytes),
                fixed(cache.moved_over_minimum(), 2) + " x"});
  }
  report.add_text("\nreads of rows of B (" + how_simulated(facts) + ")\n" + caches.text());
  if (!request.machine) return;
  TextTable times({"device", "K", "forecast", "reads that hit its caches"});
  for (const DeviceForecast& forecast : facts.forecasts) {
    times.add({forecast.device, std::to_string(forecast.dense_cols),
               readable_seconds(forecast.spmm.seconds), percent(forecast.spmm.hit_share)});
  }
  report.add_text("\nSpMM on " + request.machine->host + "\n" + times.text());
}

void add_locality_change(Report& report, const LocalityFacts& before, const LocalityFacts& after,
                         double cost_seconds, const LocalityRequest& request) {
  TextTable measures({"measure", "before", "after"});
  const auto old_lines = pattern_lines(before.pattern), new_lines = pattern_lines(after.pattern);
  for (std::size_t i = 0; i < old_lines.size(); ++i) {
    measures.add({old_lines[i].first, old_lines[i].second, new_lines[i].second});
  }
  for (std::size_t i = 0; i < before.caches.size(); ++i) {
    measures.add({"reads that hit, " + cache_label(before.caches[i]), share_text(before.caches[i]),
                  share_text(after.caches[i])});
  }
  for (std::size_t i = 0; i < before.caches.size(); ++i) {
    measures.add({"moved / minimum, " + cache_label(before.caches[i]),
                  fixed(before.caches[i].moved_over_minimum(), 2),
                  fixed(after.caches[i].moved_over_minimum(), 2)});
  }
  Json json{{"before", to_json(before)}, {"after", to_json(after)}};
  report.add_text("\n(" + how_simulated(after) + ")\n" + measures.text());

  TextTable times({"SpMM", "K", "before", "after", "faster", "pays back"});
  Json pays_back = Json::array();
  const auto add_time = [&](const std::string& what, Index dense_cols, double old_seconds,
                            double new_seconds, const char* kind) {
    const std::optional<double> products = break_even(cost_seconds, old_seconds, new_seconds);
    times.add({what, std::to_string(dense_cols), readable_seconds(old_seconds),
               readable_seconds(new_seconds), fixed(old_seconds / new_seconds, 2) + " x",
               break_even_text(products)});
    pays_back.push_back({{"device", what.substr(0, 3)},
                         {"kind", kind},
                         {"dense_cols", dense_cols},
                         {"seconds_before", old_seconds},
                         {"seconds_after", new_seconds},
                         {"break_even", products ? Json(*products) : Json()}});
  };
  for (std::size_t i = 0; i < before.forecasts.size(); ++i) {
    const DeviceForecast &from = before.forecasts[i], &to = after.forecasts[i];
    add_time(from.device + ", forecast", from.dense_cols, from.spmm.seconds, to.spmm.seconds,
             "forecast");
  }
  for (std::size_t i = 0; i < before.measured_seconds.size(); ++i) {
    add_time("cpu, measured", request.dense_cols[i], before.measured_seconds[i],
             after.measured_seconds[i], "measured");
  }
  if (!times.is_empty()) report.add_text("\n" + times.text());
  json["pays_back"] = pays_back;
  report.add_json("locality", json);
}

std::optional<double> break_even(double cost_seconds, double seconds_before, double seconds_after) {
  if (!(seconds_after < seconds_before)) return std::nullopt;
  return std::max(1.0, std::ceil(cost_seconds / (seconds_before - seconds_after)));
}

std::string break_even_text(const std::optional<double>& products) {
  if (!products) return "never";
  if (*products < 1e9) return "after " + with_commas(static_cast<std::int64_t>(*products));
  return "hardly ever";
}

}  // namespace csrkit
