#include "tools/bench/options.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/rooms.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "tools/cli/log.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/outputs.h"
#include "tools/operation/operations.h"

namespace csrkit {

namespace {

constexpr int kMaxFiles = 1 << 20;
constexpr double kPercent = 100;

void declare_all(Options& options) {
  options.value("kernels", "LIST",
                "names with cpu. or gpu. in front; --list shows them, of other operations too",
                "cpu.auto");
  for (const Operation* operation : operations()) options.add(operation->facts().bench_options);
  options.value("repeat", "N", "measured products per case", "10")
      .value("median-within", "PERCENT",
             "go on after --repeat until the median is known this well (95 % confidence)")
      .value("max-repeat", "N", "with --median-within: most products per case", "1000")
      .value("max-seconds", "S", "with --median-within: most seconds of measuring per case", "10")
      .value("warmup", "N", "products before the measured ones", "2")
      .flag("warm", "leave the caches as the product before left them (the default)")
      .flag("cold", "evict the operands from the caches before every product; with --warm: both")
      .optional_value("check", "auto|full|sampled|none", "how results are judged (default: auto)",
                      "auto")
      .value("records", "FILE.jsonl",
             "append one JSON line per case, as soon as its kernels are finished")
      .flag("resume", "skip the cases that are in --records already, failed ones excepted")
      .value("tune", "CACHE.json",
             "kernels called auto become the fastest of their room, measured once and remembered "
             "in this file")
      .value(
          "against", "KERNEL",
          "add columns: how many times faster than this kernel, with the 95 % interval; level if "
          "that includes 1")
      .value("verify", "BUNDLE.jsonl",
             "measure the cases of these records again and compare: SAME, FAST, SLOW or AMBIGUOUS; "
             "matrices are found where they were, or among those named, by their digest")
      .value("tolerance", "PERCENT", "of --verify: a difference that does not matter", "10")
      .value("attempts", "N", "of --verify: measure a case that is not SAME this often", "3")
      .flag("transpose", "multiply by the transpose of A; with spgemm: A by its transpose")
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
  rule.repeat = read_runs(options, "repeat", 1);
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
  rule.max_repeat = read_runs(options, "max-repeat", 1);
  rule.max_seconds = read_max_seconds(options);
  if (rule.max_repeat < rule.repeat) {
    throw UsageError("--max-repeat " + std::to_string(rule.max_repeat) + " is below --repeat " +
                     std::to_string(rule.repeat));
  }
  return rule;
}

/// A bundle says itself what its cases are.
void refuse_what_the_bundle_says(const Options& options) {
  std::vector<std::string> names{
      "kernels",     "repeat",           "median-within", "max-repeat",
      "max-seconds", "warmup",           "warm",          "cold",
      "resume",      "against",          "transpose",     "semiring",
      "value-kind",  "nondeterministic", "seed",          "memory-limit"};
  for (const Operation* operation : operations()) {
    for (const OptionRow& row : operation->facts().bench_options) names.push_back(row.long_name());
  }
  for (const std::string& name : names) {
    if (options.given(name)) {
      throw UsageError("--verify measures each case as it was recorded; leave out --" + name);
    }
  }
  const auto file_of = [&](const char* option) {
    std::error_code unreadable;  // then it cannot be written either
    return std::filesystem::weakly_canonical(options.text(option), unreadable);
  };
  if (options.given("records") && file_of("records") == file_of("verify")) {
    throw UsageError("--records and --verify name the same file; write the new records elsewhere");
  }
}

/// Batches give columns to whatever kernels they have, so that it is no error. Operations whose own
/// tool takes columns take them here.
void warn_of_unused_columns(const BenchOptions& result) {
  std::string owners;
  for (const Operation* operation : operations()) {
    const std::vector<OptionRow>& rows = operation->facts().options;
    const bool takes_columns = std::any_of(rows.begin(), rows.end(), [](const OptionRow& row) {
      return row.long_name() == "dense-cols";
    });
    if (!takes_columns) continue;
    if (result.requests.count(operation) > 0) return;
    append_item(owners, operation->name(), " and ");
  }
  log_warning("--dense-cols is for " + owners + " kernels, and --kernels has none: it is unused");
}

/// The requests of the operations that have a kernel; refuses what only others would obey. (A list
/// with a default says nothing about which operations run, but must be right.)
void parse_requests(const Options& options, BenchOptions& result) {
  read_dense_cols(options);
  for (const BenchKernel& kernel : result.kernels) {
    const Operation* operation = kernel.named.operation;
    if (result.requests.count(operation) == 0) {
      result.requests[operation] = operation->bench_requests(options, result.shared);
    }
  }
  for (const Operation* operation : operations()) {
    if (result.requests.count(operation) > 0) continue;
    for (const OptionRow& row : operation->facts().bench_options) {
      if (!row.default_value.empty() || !options.given(row.long_name())) continue;
      throw UsageError("--" + row.long_name() + " is for " + operation->name() +
                       " kernels, and --kernels has none");
    }
  }
  if (options.given("dense-cols")) warn_of_unused_columns(result);
}

void parse_cases(const Options& options, BenchOptions& result) {
  if (result.matrices.empty()) {
    throw UsageError("expected MATRIX.csr..., found none (only --verify knows them already)");
  }
  std::vector<std::string> kernel_names;
  bool is_tuned = false;
  for (const std::string& name : options.list("kernels")) {
    BenchKernel kernel{find_kernel_anywhere(name, "--kernels")};
    if (kernel.named.operation->facts().is_tunable && kernel.named.is_auto())
      kernel.tune = result.tune;
    is_tuned = is_tuned || !kernel.tune.empty();
    kernel_names.push_back(kernel.named.full_name());
    result.kernels.push_back(std::move(kernel));
  }
  refuse_repeats(kernel_names, "--kernels");
  if (!result.tune.empty() && !is_tuned) {
    throw UsageError("--tune is for kernels called auto, and --kernels has none");
  }
  parse_requests(options, result);
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
    result.against = find_kernel_anywhere(options.text("against"), "--against").full_name();
    if (std::find(kernel_names.begin(), kernel_names.end(), result.against) == kernel_names.end()) {
      throw UsageError("--against " + result.against + " is not among --kernels; add it there");
    }
  }
}

}  // namespace

BenchOptions parse_bench_options(int argc, const char* const* argv) {
  Options options(
      "csr-bench", "MATRIX.csr...", 0, kMaxFiles,
      "Measures kernels x matrices x dense columns x value kinds x cold and warm caches. Kernels "
      "called spgemm multiply the matrix by itself. Every case is checked first, and only what is "
      "right is timed. Kernels take turns, sample by sample. A kernel that fails is recorded with "
      "the reason; the other cases go on, and "
      "the exit code is 1.");
  declare_all(options);
  options.on_list([](bool as_json) {
    return list_kernels(operations(), {kCpu, kGpu}, /*with_marks=*/true, as_json);
  });
  declare_io(options);
  options.parse(argc, argv);

  BenchOptions result;
  result.matrices = options.names();
  refuse_repeats(result.matrices, "the command line");
  result.read = read_options(options);
  result.tune = options.text("tune");
  Request& shared = result.shared;
  shared.stop = parse_stopping_rule(options);
  shared.warmup = read_runs(options, "warmup", 0);
  shared.check = read_check(options, CheckKind::automatic);
  shared.transpose = options.flag("transpose");
  shared.semiring = options.parsed("semiring", parse_semiring);
  shared.plan.deterministic = !options.flag("nondeterministic");
  if (options.given("memory-limit")) shared.plan.memory_limit_bytes = options.bytes("memory-limit");
  shared.seed = options.seed();
  shared.plan.where.threads = read_threads(options);
  shared.plan.where.device = static_cast<int>(options.integer("device", 0, kMaxDevices - 1));
  result.records = options.text("records");
  result.is_resumed = options.flag("resume");
  if (result.is_resumed && result.records.empty())
    throw UsageError("--resume needs --records FILE.jsonl");
  result.verified = options.text("verify");
  if (result.verified.empty()) {
    for (const char* name : {"tolerance", "attempts"}) {
      if (options.given(name)) throw UsageError(std::string("--") + name + " is for --verify");
    }
    parse_cases(options, result);
  } else {
    refuse_what_the_bundle_says(options);
    result.tolerance = percentage(options, "tolerance");
    result.attempts = static_cast<int>(options.integer("attempts", 1, 100));
  }
  std::vector<std::string> inputs = result.matrices;
  if (!result.verified.empty()) inputs.push_back(result.verified);
  require_other_files({result.records, result.tune}, inputs);
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

}  // namespace csrkit
