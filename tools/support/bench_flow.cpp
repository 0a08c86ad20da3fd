#include "tools/support/bench_flow.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/csr_file.h"
#include "core/file_digest.h"
#include "tools/support/log.h"
#include "tools/support/provenance.h"
#include "tools/support/record_file.h"
#include "tools/support/report.h"
#include "tools/support/run_tool.h"

namespace csrkit {

namespace {

constexpr char kGpuPrefix[] = "gpu.";

BenchKernel find_in_rooms(const std::vector<KernelRoom>& rooms, const std::string& name) {
  for (const KernelRoom& room : rooms) {
    if (name.rfind(room.name + ".", 0) != 0) continue;
    const SpmmKernel& kernel = room.find(name);
    return {room.full_name(kernel), &kernel};
  }
  if (name.rfind(kGpuPrefix, 0) == 0) {
    throw UsageError("--kernels: '" + name +
                     "' needs a GPU build, and this one was made without CUDA");
  }
  throw UsageError("--kernels: '" + name +
                   "' does not say where; begin it with cpu. or gpu., --list shows the names");
}

template <class T>
void refuse_repeats(const std::vector<T>& items, const char* what) {
  if (std::set<T>(items.begin(), items.end()).size() != items.size()) {
    throw UsageError(std::string(what) + " names something twice; once is enough");
  }
}

/// Everything that makes two measurements the same case. Records are resumed by it, and by
/// is_judged_enough, for a stricter judge does not make another case.
Json identity_of(const FileDigest& matrix, const BenchKernel& kernel,
                 const MultiplyRequest& request, const Json& machine) {
  return {{"matrix_xxh3_128", matrix.xxh3_128},
          {"kernel", kernel.full_name},
          {"dense_cols", request.dense_cols},
          {"caches", request.is_cold ? "cold" : "warm"},
          {"value_kind", request.value_kind ? name_of(*request.value_kind) : "as stored"},
          {"transpose", request.transpose_a},
          {"semiring", name_of(request.semiring)},
          {"deterministic", request.plan.deterministic},
          {"warmup", request.warmup},
          {"repeat", request.repeat},
          {"seed", request.seed},
          {"memory_limit_bytes", request.plan.memory_limit_bytes},
          {"threads", machine["threads"]},
          {"cpu", machine["cpu"]},
          {"gpu", kernel.full_name.rfind(kGpuPrefix, 0) == 0 ? machine["gpu"] : Json(nullptr)}};
}

/// A result nobody checked does not stand in for one that has to be right.
bool is_judged_enough(const Json& record, CheckKind asked) {
  if (asked == CheckKind::none) return true;
  const Json check = record.value("check", Json());
  if (!check.is_object()) return false;
  return asked != CheckKind::full || !check.value("sampled", true);
}

/// A matrix, read when the first of its cases needs it.
class LazyMatrix {
 public:
  LazyMatrix(const std::string& path, const BenchOptions& options)
      : digest_(digest_file(path)), options_(options) {}
  const FileDigest& digest() const { return digest_; }
  const CsrMatrix& matrix() {
    if (!matrix_) {
      matrix_ = converted(read_csr_file(digest_.path, options_.read).matrix, options_.multiply);
    }
    return *matrix_;
  }

 private:
  FileDigest digest_;
  const BenchOptions& options_;
  std::optional<CsrMatrix> matrix_;
};

/// One case, whatever happens in it. A kernel that fails is a result; a matrix that cannot be read
/// is not, and ends the run before (see run_bench).
Json measure_case(const BenchKernel& kernel, const CsrMatrix& a, const MultiplyRequest& request) {
  try {
    const MultiplyOutcome outcome = run_multiply(*kernel.kernel, a, request);
    Json record{{"status", outcome.passed() ? "done" : "check failed"},
                {"reason", outcome.passed() ? "" : outcome.check->failure}};
    record.update(to_json(outcome));
    return record;
  } catch (const NoDeviceError&) {
    throw;
  } catch (const Error& error) {
    return {{"status", "failed"}, {"reason", error.what()}};
  } catch (const std::bad_alloc&) {
    return {{"status", "failed"}, {"reason", "not enough memory"}};
  }
}

/// Median seconds by (matrix digest, dense_cols, caches) of the kernel that ratios refer to.
std::map<std::string, double> seconds_of(const std::vector<Json>& records,
                                         const std::string& kernel) {
  std::map<std::string, double> seconds;
  for (const Json& record : records) {
    if (record["case"]["kernel"] != kernel || record["status"] != "done") continue;
    const Json& identity = record["case"];
    seconds[identity["matrix_xxh3_128"].get<std::string>() + identity["dense_cols"].dump() +
            identity["caches"].dump()] = record["median_seconds"].get<double>();
  }
  return seconds;
}

std::string table_of(const std::vector<Json>& records, const std::string& against) {
  const std::map<std::string, double> base = seconds_of(records, against);
  std::vector<std::string> headers{"matrix", "kernel",   "K",       "caches",      "median ms",
                                   "min ms", "spread %", "GFLOP/s", "GB/s gather", "check"};
  if (!against.empty()) headers.push_back("speed against " + against);
  TextTable table(headers);
  for (const Json& record : records) {
    const Json& identity = record["case"];
    std::vector<std::string> cells{
        record["matrix"].get<std::string>(), identity["kernel"].get<std::string>(),
        identity["dense_cols"].dump(), identity["caches"].get<std::string>()};
    if (record["status"] == "done") {
      const double median = record["median_seconds"].get<double>();
      const Json& check = record["check"];
      cells.insert(
          cells.end(),
          {fixed(median * 1e3, 3), fixed(record["min_seconds"].get<double>() * 1e3, 3),
           fixed(100 * record["spread"].get<double>(), 1), fixed(record["gflops"].get<double>(), 2),
           fixed(record["gather_gb_per_second"].get<double>(), 2),
           check.is_null()                ? "none"
           : check["sampled"].get<bool>() ? "ok (sampled)"
                                          : "ok"});
      const auto found = base.find(identity["matrix_xxh3_128"].get<std::string>() +
                                   identity["dense_cols"].dump() + identity["caches"].dump());
      if (!against.empty()) {
        cells.push_back(found == base.end() || median <= 0 ? "-"
                                                           : fixed(found->second / median, 2));
      }
    } else {
      cells.insert(cells.end(), {"-", "-", "-", "-", "-", record["status"].get<std::string>()});
      if (!against.empty()) cells.push_back("-");
    }
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace

bool BenchOptions::needs_gpu() const {
  return std::any_of(kernels.begin(), kernels.end(), [](const BenchKernel& kernel) {
    return kernel.full_name.rfind(kGpuPrefix, 0) == 0;
  });
}

BenchOptions parse_bench_options(int argc, const char* const* argv,
                                 const std::vector<KernelRoom>& rooms) {
  constexpr int kMaxFiles = 1 << 20, kMaxRuns = 1000000;
  Options options(
      "csr-bench", "MATRIX.csr...", 1, kMaxFiles,
      "Measures kernels x matrices x dense columns. Every case is checked first, and only "
      "what is right is timed. A kernel that fails is recorded with the reason; the other "
      "cases go on, and the exit code is 1.");
  options
      .value("kernels", "LIST", "names with cpu. or gpu. in front; --list shows them", "cpu.auto")
      .value("k,dense-cols", "LIST", "columns of B and C", "32,128")
      .value("repeat", "N", "measured multiplications per case", "10")
      .value("warmup", "N", "multiplications before the measured ones", "2")
      .flag("warm", "leave the caches as the multiplication before left them (the default)")
      .flag("cold",
            "evict A, B and C from the caches before every multiplication; with --warm: both")
      .optional_value("check", "auto|full|sampled|none", "how results are judged (default: auto)",
                      "auto")
      .value("records", "FILE.jsonl", "append one JSON line per case, as soon as it is finished")
      .flag("resume", "skip the cases that are in --records already, failed ones excepted")
      .value("against", "KERNEL", "add a column: how many times faster than this kernel")
      .flag("transpose", "multiply by the transpose of A")
      .value("semiring", "NAME", "plus-times, min-plus, max-times or or-and", "plus-times")
      .value("value-kind", "KIND", "convert A first: none, f32, f64, f16 or bf16")
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
      .on_list([rooms](bool as_json) { return list_kernels(rooms, as_json); });
  declare_io(options);
  options.parse(argc, argv);

  BenchOptions result;
  result.matrices = options.names();
  result.read = read_options(options);
  refuse_repeats(result.matrices, "the list of matrices");
  std::vector<std::string> kernel_names;
  for (const std::string& name : options.list("kernels")) {
    result.kernels.push_back(find_in_rooms(rooms, name));
    kernel_names.push_back(result.kernels.back().full_name);
  }
  refuse_repeats(kernel_names, "--kernels");
  for (const std::int64_t cols : options.integers("dense-cols", 1, kMaxIndex)) {
    result.dense_cols.push_back(static_cast<Index>(cols));
  }
  refuse_repeats(result.dense_cols, "--dense-cols");
  if (options.flag("warm") || !options.flag("cold")) result.caches_cold.push_back(false);
  if (options.flag("cold")) result.caches_cold.push_back(true);
  result.multiply.repeat = static_cast<int>(options.integer("repeat", 1, kMaxRuns));
  result.multiply.warmup = static_cast<int>(options.integer("warmup", 0, kMaxRuns));
  result.multiply.check = parse_check(options, CheckKind::automatic);
  result.multiply.transpose_a = options.flag("transpose");
  result.multiply.semiring = options.parsed("semiring", parse_semiring);
  if (options.given("value-kind")) {
    result.multiply.value_kind = options.parsed("value-kind", parse_value_kind);
  }
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
  if (options.given("against")) {
    result.against = find_in_rooms(rooms, options.text("against")).full_name;
    if (std::find(kernel_names.begin(), kernel_names.end(), result.against) == kernel_names.end()) {
      throw UsageError("--against " + result.against + " is not among --kernels; add it there");
    }
  }
  result.as_json = options.json();
  result.command_line = options.command_line();
  return result;
}

int run_bench(const BenchOptions& options, const Json& machine) {
  std::unique_ptr<RecordFile> file;
  if (!options.records.empty()) {
    file = std::make_unique<RecordFile>(options.records);
    if (file->was_repaired())
      log_warning(options.records + ": removed a last line that was cut short");
  }
  std::map<std::string, Json> finished;
  if (options.is_resumed) {
    for (const Json& record : file->records()) {
      if (record.value("status", "") == "done" && record.contains("case") &&
          is_judged_enough(record, options.multiply.check)) {
        finished[record["case"].dump()] = record;
      }
    }
  }

  std::vector<Json> records;
  bool all_passed = true;
  for (const std::string& path : options.matrices) {
    LazyMatrix matrix(path, options);
    for (const Index dense_cols : options.dense_cols) {
      for (const bool is_cold : options.caches_cold) {
        for (const BenchKernel& kernel : options.kernels) {
          MultiplyRequest request = options.multiply;
          request.dense_cols = dense_cols;
          request.is_cold = is_cold;
          const Json identity = identity_of(matrix.digest(), kernel, request, machine);
          const auto found = finished.find(identity.dump());
          if (found != finished.end()) {
            log_info(path + ": " + kernel.full_name + ", K " + std::to_string(dense_cols) +
                     " is in the records already");
            records.push_back(found->second);
            continue;
          }
          Json record{{"matrix", path}, {"case", identity}};
          record.update(measure_case(kernel, matrix.matrix(), request));
          record["machine"] = machine;
          record["time"] = utc_time_stamp();
          record["command_line"] = options.command_line;
          if (record["status"] != "done") {
            all_passed = false;
            log_error(path + ": " + kernel.full_name + ", K " + std::to_string(dense_cols) + ": " +
                      record["status"].get<std::string>() + ": " +
                      record["reason"].get<std::string>());
          }
          if (file) file->append(record);
          if (options.as_json) {
            const std::string line =
                record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
            std::fwrite(line.data(), 1, line.size(), stdout);
            std::fflush(stdout);
          }
          records.push_back(std::move(record));
        }
      }
    }
  }
  if (!options.as_json && log_level() != LogLevel::quiet) {
    std::fputs(table_of(records, options.against).c_str(), stdout);
  }
  return all_passed ? kExitDone : kExitCheckFailed;
}

}  // namespace csrkit
