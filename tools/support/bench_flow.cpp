#include "tools/support/bench_flow.h"

#include <algorithm>
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

  const bool measures_cold =
      std::count(options.caches_cold.begin(), options.caches_cold.end(), true) > 0;
  std::vector<Json> records;
  bool all_passed = true;
  for (const std::string& path : options.matrices) {
    BenchMatrix matrix(path, options.read);
    std::map<std::string, Json> made_beside;  // the cold ones, by the plans of the warm ones
    for (const MultiplyRequest& request : requests_of(options)) {
      for (const BenchKernel& kernel : options.kernels) {
        // Without dense operands their columns make no difference: once is enough.
        if (kernel.spgemm != nullptr && request.dense_cols != options.dense_cols.front()) continue;
        const std::string identity =
            identity_of(matrix.digest(), kernel, request, place.machine).dump();
        const auto keep = [&](Json record) {
          if (options.as_json) print_record(record);
          records.push_back(std::move(record));
        };
        if (const auto made = made_beside.find(identity); made != made_beside.end()) {
          keep(std::move(made->second));
          continue;
        }
        const auto found = finished.find(identity);
        if (found != finished.end()) {
          records.push_back(found->second);
          records.back()["matrix"] = path;  // under the name it has now
          log_info(name_of_case(records.back()) + " is in the records already");
          continue;
        }
        MultiplyRequest cold_request = request;
        cold_request.is_cold = true;
        const std::string cold_identity =
            identity_of(matrix.digest(), kernel, cold_request, place.machine).dump();
        const bool makes_cold = !request.is_cold && measures_cold && kernel.spgemm == nullptr &&
                                kernel.tune.empty() && finished.count(cold_identity) == 0;
        Json cold;
        Json record = record_case(matrix, kernel, request, place, makes_cold ? &cold : nullptr);
        all_passed = all_passed && record["status"] == "done";
        if (file) file->append(record);
        keep(std::move(record));
        if (makes_cold) {
          all_passed = all_passed && cold["status"] == "done";
          if (file) file->append(cold);
          made_beside[cold_identity] = std::move(cold);
        }
      }
    }
  }
  if (!options.as_json && log_level() != LogLevel::quiet) {
    std::fputs(bench_table(records, options.against).c_str(), stdout);
  }
  return all_passed ? kExitDone : kExitCheckFailed;
}

}  // namespace csrkit
