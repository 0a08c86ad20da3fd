#include "tools/operation/product/request.h"

#include "core/base/error.h"
#include "core/file/npy_file.h"
#include "tools/operation/operands/losses.h"

namespace csrkit {

void declare_common_options(Options& options, const CommonOptions& which) {
  options.value("kernel", "NAME", "which kernel; --list shows them", "auto");
  if (which.has_variants) {
    options.value("variant", "VARIANT", "a variant of the kernel, for kernels that have some");
  }
  options.value("repeat", "N", "measured products", "10")
      .value("warmup", "N", "products before the measured ones", "2")
      .flag("cold", "evict the operands from the caches before every measured product")
      .optional_value(
          "check", "auto|full|sampled",
          "judge C against float64 within the derived error bound; auto compares every entry of "
          "small products and samples big ones; nothing wrong is timed or written",
          "auto");
  if (which.has_semirings) {
    options.value("semiring", "NAME", "plus-times, min-plus, max-times or or-and", "plus-times");
  }
  options
      .value("value-kind", "KIND", "convert the sparse operands first: none, f32, f64, f16 or bf16")
      .flag("nondeterministic", "allow results that differ from run to run in the last bits");
  if (which.is_gpu) {
    options.value("device", "N", "which of the visible GPUs", "0");
  } else {
    options.value("threads", "N",
                  "OpenMP threads (default: what OMP_NUM_THREADS or the system says)");
  }
  if (which.has_schedules) {
    options
        .value("schedule", "NAME",
               "how rows are shared out, for kernels that can: auto, static, dynamic or guided",
               "auto")
        .value("chunk", "N", "rows per chunk of --schedule");
  }
}

int read_threads(const Options& options) {
  if (!options.given("threads")) return 0;
  return static_cast<int>(options.integer("threads", 1, kMaxThreads));
}

int read_runs(const Options& options, const char* name, int least) {
  return static_cast<int>(options.integer(name, least, kMaxRuns));
}

double read_max_seconds(const Options& options) {
  const double seconds = options.number("max-seconds");
  if (seconds > 0) return seconds;
  throw UsageError("--max-seconds is '" + options.text("max-seconds") +
                   "'; it must be a number above 0");
}

std::optional<ValueKind> read_kind(const Options& options, const char* name) {
  if (!options.given(name)) return std::nullopt;
  return options.parsed(name, parse_value_kind);
}

CheckKind read_check(const Options& options, CheckKind otherwise) {
  if (!options.given("check")) return otherwise;
  const std::string kind = options.choice("check", {"auto", "full", "sampled", "none"});
  return kind == "full"      ? CheckKind::full
         : kind == "sampled" ? CheckKind::sampled
         : kind == "none"    ? CheckKind::none
                             : CheckKind::automatic;
}

CheckOptions check_options(CheckKind kind) {
  CheckOptions options;
  if (kind == CheckKind::full) options.work_limit = 0;
  options.always_samples = kind == CheckKind::sampled;
  return options;
}

Request read_common_options(const Options& options, const CommonOptions& which) {
  Request request;
  request.stop.repeat = read_runs(options, "repeat", 1);
  request.warmup = read_runs(options, "warmup", 0);
  request.is_cold = options.flag("cold");
  request.check = read_check(options, CheckKind::none);
  if (which.has_semirings) request.semiring = options.parsed("semiring", parse_semiring);
  request.value_kind = read_kind(options, "value-kind");
  request.plan.deterministic = !options.flag("nondeterministic");
  // Operations declare these in their own words, those that have them.
  if (options.given("output")) request.output = options.text("output");
  if (options.given("alpha")) request.alpha = options.number("alpha");
  request.output_kind = read_kind(options, "output-kind");
  if (options.given("memory-limit")) {
    request.plan.memory_limit_bytes = options.bytes("memory-limit");
  }
  Execution& where = request.plan.where;
  if (which.is_gpu) {
    where.device = static_cast<int>(options.integer("device", 0, kMaxDevices - 1));
  } else {
    where.threads = read_threads(options);
  }
  if (which.has_schedules) {
    where.schedule = options.parsed("schedule", parse_schedule);
    if (options.given("chunk")) {
      where.chunk = static_cast<int>(options.integer("chunk", 1, 1 << 30));
    }
  }
  return request;
}

Index dense_cols_of(const Options& options, const std::string& input) {
  if (input.empty() || options.given("dense-cols")) {
    return static_cast<Index>(options.integer("dense-cols", 1, kMaxIndex));
  }
  const Index cols = NpyFile(input).cols();
  if (cols > 0) return cols;
  throw InputError(input + ": expected an array of 1 column or more, found none");
}

std::optional<ValueKind> kind_of_input(const std::string& input) {
  if (input.empty()) return {};
  return NpyFile(input).kind();
}

std::vector<Index> read_dense_cols(const Options& options) {
  std::vector<Index> all;
  for (const std::int64_t cols : options.different_integers("dense-cols", 1, kMaxIndex)) {
    all.push_back(static_cast<Index>(cols));
  }
  return all;
}

CsrMatrix converted(const CsrMatrix& matrix, const Request& request, const std::string& name) {
  if (!request.value_kind || *request.value_kind == matrix.value_kind()) return matrix;
  Losses losses;
  losses.note(matrix, *request.value_kind);
  warn_of_losses(name, losses);
  return convert_values(matrix, *request.value_kind);
}

}  // namespace csrkit
