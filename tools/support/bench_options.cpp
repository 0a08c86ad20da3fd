#include "tools/support/bench_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"

namespace csrkit {

namespace {

constexpr int kMaxFiles = 1 << 20, kMaxRuns = 1000000;
constexpr double kPercent = 100;

template <class T>
void refuse_repeats(const std::vector<T>& items, const char* what) {
  if (std::set<T>(items.begin(), items.end()).size() != items.size()) {
    throw UsageError(std::string(what) + " names something twice; once is enough");
  }
}

void declare(Options& options) {
  options
      .value("kernels", "LIST",
             "names with cpu. or gpu. in front; --list shows them, of spgemm too", "cpu.auto")
      .value("k,dense-cols", "LIST", "columns of B and C", "32,128")
      .value("repeat", "N", "measured multiplications per case", "10")
      .value("median-within", "PERCENT",
             "go on after --repeat until the median is known this well (95 % confidence)")
      .value("max-repeat", "N", "with --median-within: most multiplications per case", "1000")
      .value("max-seconds", "S", "with --median-within: most seconds of measuring per case", "10")
      .value("warmup", "N", "multiplications before the measured ones", "2")
      .flag("warm", "leave the caches as the multiplication before left them (the default)")
      .flag("cold",
            "evict A, B and C from the caches before every multiplication; with --warm: both")
      .optional_value("check", "auto|full|sampled|none", "how results are judged (default: auto)",
                      "auto")
      .value("records", "FILE.jsonl", "append one JSON line per case, as soon as it is finished")
      .flag("resume", "skip the cases that are in --records already, failed ones excepted")
      .value("tune", "CACHE.json",
             "kernels called auto become the fastest of their room, measured once and remembered "
             "in this file")
      .value("against", "KERNEL", "add a column: how many times faster than this kernel")
      .value("verify", "BUNDLE.jsonl",
             "measure the cases of these records again and compare: SAME, FAST, SLOW or AMBIGUOUS; "
             "matrices are found where they were, or among those named, by their digest")
      .value("tolerance", "PERCENT", "of --verify: a difference that does not matter", "10")
      .value("attempts", "N", "of --verify: measure a case that is not SAME this often", "3")
      .flag("transpose", "multiply by the transpose of A; with spgemm: A by its transpose")
      .flag("reuse", "of spgemm kernels that can: the numeric phase alone, too, with new values")
      .value("semiring", "NAME", "plus-times, min-plus, max-times or or-and", "plus-times")
      .value("value-kind", "LIST", "convert A first: none, f32, f64, f16, bf16")
      .flag("nondeterministic", "allow results that differ from run to run in the last bits")
      .value("memory-limit", "SIZE", "most memory for a plan, e.g. 512M or 8G")
      .value("seed", "N", "of random operands", "1")
      .value("threads", "N", "OpenMP threads of CPU kernels")
      .value("device", "N", "which of the visible GPUs", "0")
      .example(
          "csr-bench tiny.csr --kernels cpu.auto,cpu.row_loop -k 8,32 --repeat 3 --against "
          "cpu.row_loop",
          "two kernels, side by side")
      .example("csr-bench tiny.csr -k 16 --repeat 3 --records out.jsonl --resume",
               "records that survive an interruption")
      .example("csr-bench tiny.csr -k 16 --value-kind f32,f64 --median-within 20 --max-seconds 1",
               "two precisions, each until its median is known to 20 %")
      .example("csr-bench --verify out.jsonl", "are the records still true on this machine?");
}

std::string list_all(const BenchRooms& rooms, bool as_json) {
  std::string text = list_kernels(rooms.spmm, as_json);
  Json rows = as_json ? Json::parse(text) : Json();
  for (const SpgemmRoom& room : rooms.spgemm) {
    const std::string more = list_kernels(room, as_json);
    if (!as_json) {
      text += "\n" + more;
      continue;
    }
    for (Json& row : Json::parse(more)) rows.push_back(row);
  }
  return as_json ? rows.dump() + "\n" : text;
}

double percentage(const Options& options, const char* name) {
  const double percent = options.number(name);
  if (!(percent > 0)) {
    throw UsageError(std::string("--") + name + " is '" + options.text(name) +
                     "'; it must be a percentage above 0");
  }
  return percent / kPercent;
}

StoppingRule parse_stopping_rule(const Options& options) {
  StoppingRule rule;
  rule.repeat = static_cast<int>(options.integer("repeat", 1, kMaxRuns));
  if (!options.given("median-within")) {
    for (const char* name : {"max-repeat", "max-seconds"}) {
      if (!options.given(name)) continue;
      throw UsageError(std::string("--") + name +
                       " limits --median-within; without it --repeat says how often");
    }
    rule.max_repeat = rule.repeat;
    return rule;
  }
  rule.uncertainty = percentage(options, "median-within");
  rule.max_repeat = static_cast<int>(options.integer("max-repeat", 1, kMaxRuns));
  rule.max_seconds = options.number("max-seconds");
  if (!(rule.max_seconds > 0)) throw UsageError("--max-seconds must be above 0");
  if (rule.max_repeat < rule.repeat) {
    throw UsageError("--max-repeat " + std::to_string(rule.max_repeat) + " is below --repeat " +
                     std::to_string(rule.repeat));
  }
  return rule;
}

/// A bundle says itself what its cases are.
void refuse_what_the_bundle_says(const Options& options) {
  for (const char* name :
       {"kernels", "dense-cols", "repeat", "median-within", "max-repeat", "max-seconds", "warmup",
        "warm", "cold", "resume", "against", "transpose", "reuse", "semiring", "value-kind",
        "nondeterministic", "seed"}) {
    if (options.given(name)) {
      throw UsageError(std::string("--verify measures each case as it was recorded; leave out --") +
                       name);
    }
  }
  if (options.given("records") && options.text("records") == options.text("verify")) {
    throw UsageError("--records and --verify name the same file; write the new records elsewhere");
  }
}

void parse_cases(const Options& options, const BenchRooms& rooms, BenchOptions& result) {
  if (result.matrices.empty()) {
    throw UsageError("expected MATRIX.csr..., found none (only --verify knows them already)");
  }
  std::vector<std::string> kernel_names;
  for (const std::string& name : options.list("kernels")) {
    result.kernels.push_back(find_in_rooms(rooms, name, "--kernels"));
    BenchKernel& kernel = result.kernels.back();
    if (kernel.kernel != nullptr && kernel.is_auto()) kernel.tune = result.tune;
    kernel_names.push_back(kernel.full_name);
  }
  refuse_repeats(kernel_names, "--kernels");
  if (!result.tune.empty() && std::all_of(result.kernels.begin(), result.kernels.end(),
                                          [](const auto& kernel) { return kernel.tune.empty(); })) {
    throw UsageError("--tune is for kernels called auto, and --kernels has none");
  }
  for (const std::int64_t cols : options.integers("dense-cols", 1, kMaxIndex)) {
    result.dense_cols.push_back(static_cast<Index>(cols));
  }
  refuse_repeats(result.dense_cols, "--dense-cols");
  if (options.flag("warm") || !options.flag("cold")) result.caches_cold.push_back(false);
  if (options.flag("cold")) result.caches_cold.push_back(true);
  if (options.given("value-kind")) {
    refuse_repeats(options.list("value-kind"), "--value-kind");
    for (const std::string& kind : options.list("value-kind")) {
      try {
        result.value_kinds.emplace_back(parse_value_kind(kind));
      } catch (const UsageError& error) {
        throw UsageError(std::string("--value-kind: ") + error.what());
      }
    }
  } else {
    result.value_kinds.emplace_back(std::nullopt);
  }
  if (options.given("against")) {
    result.against = find_in_rooms(rooms, options.text("against"), "--against").full_name;
    if (std::find(kernel_names.begin(), kernel_names.end(), result.against) == kernel_names.end()) {
      throw UsageError("--against " + result.against + " is not among --kernels; add it there");
    }
  }
}

}  // namespace

bool BenchOptions::needs_gpu() const {
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const BenchKernel& kernel) { return kernel.needs_gpu(); });
}

BenchOptions parse_bench_options(int argc, const char* const* argv, const BenchRooms& rooms) {
  Options options(
      "csr-bench", "MATRIX.csr...", 0, kMaxFiles,
      "Measures kernels x matrices x dense columns x value kinds x cold and warm caches. Kernels "
      "called spgemm multiply the matrix by itself. Every case is checked first, and only what is "
      "right is timed. A kernel that fails is recorded with the reason; the other cases go on, and "
      "the exit code is 1.");
  declare(options);
  options.on_list([rooms](bool as_json) { return list_all(rooms, as_json); });
  declare_io(options);
  options.parse(argc, argv);

  BenchOptions result;
  result.matrices = options.names();
  refuse_repeats(result.matrices, "the list of matrices");
  result.read = read_options(options);
  result.tune = options.text("tune");
  result.multiply.stop = parse_stopping_rule(options);
  result.multiply.warmup = static_cast<int>(options.integer("warmup", 0, kMaxRuns));
  result.multiply.check = parse_check(options, CheckKind::automatic);
  result.multiply.transpose_a = options.flag("transpose");
  result.multiply.measures_reuse = options.flag("reuse");
  result.multiply.semiring = options.parsed("semiring", parse_semiring);
  result.multiply.plan.deterministic = !options.flag("nondeterministic");
  if (options.given("memory-limit")) {
    result.multiply.plan.memory_limit_bytes = options.bytes("memory-limit");
  }
  result.multiply.seed = options.seed("seed");
  if (options.given("threads")) {
    result.multiply.plan.where.threads = static_cast<int>(options.integer("threads", 1, 4096));
  }
  result.multiply.plan.where.device = static_cast<int>(options.integer("device", 0, 1023));
  result.records = options.text("records");
  result.is_resumed = options.flag("resume");
  if (result.is_resumed && result.records.empty())
    throw UsageError("--resume needs --records FILE.jsonl");
  result.verified = options.text("verify");
  if (result.verified.empty()) {
    for (const char* name : {"tolerance", "attempts"}) {
      if (options.given(name)) throw UsageError(std::string("--") + name + " is for --verify");
    }
    parse_cases(options, rooms, result);
  } else {
    refuse_what_the_bundle_says(options);
    result.tolerance = percentage(options, "tolerance");
    result.attempts = static_cast<int>(options.integer("attempts", 1, 100));
  }
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

}  // namespace csrkit
