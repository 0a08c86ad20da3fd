#include "tools/operation/product/run.h"

#include "tools/cli/log.h"

namespace csrkit {

namespace {

constexpr double kGiga = 1e9;
constexpr char kBytes[] = "_bytes";

std::string without(const std::string& name, const std::string& ending) {
  return name.substr(0, name.size() - ending.size());
}

bool is_traffic(const std::string& name) { return name != "flops"; }

double per_second(double amount, const Samples& samples) {
  const double seconds = samples.median_seconds();
  return seconds > 0 ? amount / kGiga / seconds : 0;
}

Json to_json(const std::optional<CheckResult>& check) {
  if (!check) return nullptr;
  return {{"passed", check->passed},
          {"sampled", check->sampled},
          {"rows_checked", check->rows_checked},
          {"worst_error_ratio", check->worst_error_ratio},
          {"failure", check->failure}};
}

}  // namespace

Json shape_of(const CsrMatrix& matrix) {
  return {{"rows", matrix.rows()}, {"cols", matrix.cols()}, {"nnz", matrix.nnz()}};
}

Json kinds_of(ValueKind a, ValueKind b, ValueKind c, ValueKind accumulate) {
  return {
      {"a", name_of(a)}, {"b", name_of(b)}, {"c", name_of(c)}, {"accumulate", name_of(accumulate)}};
}

void describe_product(const CsrMatrix& a, Index dense_cols, const SpmmCost& cost,
                      const Phases& phases, Outcome* outcome) {
  outcome->has_run = true;
  outcome->facts = shape_of(a);
  outcome->facts["dense_cols"] = dense_cols;
  outcome->cost = {{"flops", cost.flops},
                   {"minimum_bytes", cost.minimum_bytes},
                   {"gather_bytes", cost.gather_bytes}};
  outcome->phases = phases.named();
  outcome->peak_bytes = phases.peak_bytes;
  outcome->columns = {{"rows", with_commas(a.rows())},
                      {"nnz", with_commas(a.nnz())},
                      {"K", with_commas(dense_cols)}};
}

Samples Run::samples(const Request& request, const std::function<double()>& run_once) {
  return measure(request.warmup, request.stop, run_once, [&] {
    if (request.between_samples) request.between_samples();
    if (request.is_cold) plan().evict_caches();
  });
}

Outcome measured(Run& run, const Request& request) {
  Outcome outcome = run.outcome;
  if (!outcome.has_run || !outcome.passed()) return outcome;
  outcome.samples = run.samples(request, [&] { return run.time(); });
  run.complete(request, &outcome);
  return outcome;
}

void add_samples(Json* json, const std::string& prefix, const Samples& samples) {
  if (samples.seconds.empty()) return;
  const Interval interval = samples.median_interval();
  (*json)[prefix + "samples_seconds"] = samples.seconds;
  (*json)[prefix + "median_seconds"] = samples.median_seconds();
  (*json)[prefix + "min_seconds"] = samples.min_seconds();
  (*json)[prefix + "spread"] = samples.spread();
  (*json)[prefix + "median_interval_seconds"] = {interval.low, interval.high};
}

Json to_json(const Outcome& outcome) {
  Json json = outcome.facts;
  json["deterministic"] = outcome.is_deterministic;
  json["choice"] = outcome.choice;
  if (!outcome.kernel_run.empty()) json["kernel_run"] = outcome.kernel_run;
  if (!outcome.has_run) return json;
  add_samples(&json, "", outcome.samples);
  Json costs = Json::object();
  for (const auto& [name, amount] : outcome.cost) {
    costs[name] = count_json(amount);
    if (outcome.samples.seconds.empty()) continue;
    json[is_traffic(name) ? without(name, kBytes) + "_gb_per_second" : "gflops"] =
        per_second(amount, outcome.samples);
  }
  json["cost"] = costs;
  Json phases = Json::object();
  for (const auto& [name, seconds] : outcome.phases)
    phases[name + std::string("_seconds")] = seconds;
  json["phases"] = phases;
  json["peak_bytes"] = outcome.peak_bytes;
  json["check"] = to_json(outcome.check);
  return json;
}

namespace {

void add_run(Report* report, const Outcome& outcome, bool is_cold) {
  report->add("caches", "caches", is_cold ? "cold" : "warm");
  report->add_line("check", check_text(outcome.check));
  for (const auto& [name, seconds] : outcome.phases) {
    std::string label = name;
    for (char& letter : label) letter = letter == '_' ? ' ' : letter;
    if (seconds > 0) report->add_line(label, readable_seconds(seconds));
  }
  if (outcome.peak_bytes > 0) {
    report->add_line("memory",
                     readable_bytes(static_cast<double>(outcome.peak_bytes)) + outcome.memory_note);
  }
}

}  // namespace

void add_outcome(Report* report, const Outcome& outcome, const std::string& kernel, bool is_cold) {
  const Json json = to_json(outcome);
  for (const auto& [key, value] : json.items()) report->add_json(key, value);
  if (!outcome.samples.seconds.empty()) {
    std::vector<std::string> headers{"kernel"}, cells{kernel};
    const auto add = [&](const std::string& header, const std::string& cell) {
      headers.push_back(header);
      cells.push_back(cell);
    };
    for (const auto& [header, cell] : outcome.columns) add(header, cell);
    add("median ms", milliseconds(outcome.samples.median_seconds()));
    add("min ms", milliseconds(outcome.samples.min_seconds()));
    add("spread %", fixed(100 * outcome.samples.spread(), 1));
    for (const auto& [name, amount] : outcome.cost) {
      add(is_traffic(name) ? "GB/s " + without(name, kBytes) : "GFLOP/s",
          fixed(per_second(amount, outcome.samples), 2));
    }
    TextTable table(headers);
    table.add(cells);
    report->add_text(table.text() + "\n");
  }
  if (!outcome.choice.empty()) report->add_line("choice", outcome.choice);
  if (outcome.has_run) add_run(report, outcome, is_cold);
  for (const auto& [label, text] : outcome.lines) report->add_line(label, text);
}

void say_choice(const Outcome& outcome, const std::string& kernel) {
  const bool is_other = !outcome.kernel_run.empty() && outcome.kernel_run != kernel;
  log_debug("kernel: " + kernel + (is_other ? ", which runs " + outcome.kernel_run : "") +
            (outcome.choice.empty() ? "" : ": " + outcome.choice));
}

std::string check_text(const std::optional<CheckResult>& check) {
  if (!check) return "not checked";
  if (!check->passed) return "FAILED: " + check->failure;
  std::string seen = "all rows";
  if (check->sampled) {
    seen = with_commas(check->rows_checked, "row") +
           (check->has_projections ? " and a projection" : ", a sample");
  }
  return "ok, worst error " + fixed(check->worst_error_ratio, 3) + " of the bound (" + seen + ")";
}

}  // namespace csrkit
