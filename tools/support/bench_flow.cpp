#include "tools/support/bench_flow.h"

#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/support/bench_table.h"
#include "tools/support/log.h"
#include "tools/support/record_file.h"
#include "tools/support/run_tool.h"
#include "tools/support/tuning.h"

namespace csrkit {

namespace {

/// Records of cases that need not run again, by their identity.
std::map<std::string, Json> finished_cases(const BenchOptions& options, const RecordFile* file) {
  std::map<std::string, Json> finished;
  if (!options.is_resumed) return finished;
  for (const Json& record : file->records()) {
    if (record.value("status", "") == "done" && record.contains("case") &&
        is_judged_enough(record, options.multiply.check)) {
      finished[record["case"].dump()] = record;
    }
  }
  return finished;
}

/// The requests of a matrix, in the order in which they run.
std::vector<MultiplyRequest> requests_of(const BenchOptions& options) {
  std::vector<MultiplyRequest> requests;
  for (const std::optional<ValueKind>& value_kind : options.value_kinds) {
    for (const Index dense_cols : options.dense_cols) {
      for (const bool is_cold : options.caches_cold) {
        MultiplyRequest request = options.multiply;
        request.value_kind = value_kind;
        request.dense_cols = dense_cols;
        request.is_cold = is_cold;
        requests.push_back(std::move(request));
      }
    }
  }
  return requests;
}

}  // namespace

int run_bench(const BenchOptions& options, const BenchPlace& place) {
  if (!options.tune.empty()) require_tuning_cache(options.tune);
  std::unique_ptr<RecordFile> file;
  if (!options.records.empty()) {
    file = std::make_unique<RecordFile>(options.records);
    if (file->was_repaired())
      log_warning(options.records + ": removed a last line that was cut short");
  }
  const std::map<std::string, Json> finished = finished_cases(options, file.get());

  std::vector<Json> records;
  bool all_passed = true;
  for (const std::string& path : options.matrices) {
    BenchMatrix matrix(path, options.read);
    for (const MultiplyRequest& request : requests_of(options)) {
      for (const BenchKernel& kernel : options.kernels) {
        // Without dense operands their columns make no difference: once is enough.
        if (kernel.spgemm != nullptr && request.dense_cols != options.dense_cols.front()) continue;
        const auto found =
            finished.find(identity_of(matrix.digest(), kernel, request, place.machine).dump());
        if (found != finished.end()) {
          records.push_back(found->second);
          records.back()["matrix"] = path;  // under the name it has now
          log_info(name_of_case(records.back()) + " is in the records already");
          continue;
        }
        Json record = record_case(matrix, kernel, request, place);
        all_passed = all_passed && record["status"] == "done";
        if (file) file->append(record);
        if (options.as_json) print_record(record);
        records.push_back(std::move(record));
      }
    }
  }
  if (!options.as_json && log_level() != LogLevel::quiet) {
    std::fputs(bench_table(records, options.against).c_str(), stdout);
  }
  return all_passed ? kExitDone : kExitCheckFailed;
}

}  // namespace csrkit
