#include "tools/bench/run.h"

#include <algorithm>
#include <map>

#include "api/rooms.h"
#include "tools/bench/table.h"
#include "tools/bench/turns.h"
#include "tools/cli/log.h"
#include "tools/cli/report.h"
#include "tools/cli/run_tool.h"
#include "tools/operation/machine.h"
#include "tools/operation/tuning.h"

namespace csrkit {

namespace {

class Bench {
 public:
  Bench(const BenchOptions& options, const BenchPlace& place) : options_(options), place_(place) {
    if (!options.tune.empty()) require_tuning_cache(options.tune);
    if (options.records.empty()) return;
    file_ = std::make_unique<RecordFile>(options.records);
    if (options.is_resumed) find_finished_cases();
  }

  void measure(const std::string& path) {
    BenchMatrix matrix(path, options_.read);
    for (const std::optional<ValueKind>& kind : options_.value_kinds) {
      for (std::size_t turn = 0; turn < most_requests(); ++turn) measure_turn(matrix, kind, turn);
    }
  }

  /// Prints the table, unless the records went to stdout one by one.
  int finish() const {
    if (!options_.as_json && log_level() != LogLevel::quiet) {
      print_text(bench_table(records_, options_.against));
    }
    return all_passed_ ? kExitDone : kExitCheckFailed;
  }

 private:
  void find_finished_cases() {
    for (const FiledRecord& filed : file_->records()) {
      if (filed.record["status"] == "done" &&
          is_judged_enough(field_of(filed, options_.records), options_.shared.check)) {
        finished_[key_of(filed.record["case"])] = &filed;
      }
    }
  }

  std::size_t most_requests() const {
    std::size_t most = 0;
    for (const auto& [operation, requests] : options_.requests) {
      most = std::max(most, requests.size());
    }
    return most;
  }

  /// One request of every operation: what stands side by side in the table, and is measured in
  /// turn. A kernel's plan serves warm and cold caches; a tuned one is chosen for each.
  void measure_turn(BenchMatrix& matrix, const std::optional<ValueKind>& kind, std::size_t turn) {
    std::vector<BenchCase> cases;
    for (const BenchKernel& kernel : options_.kernels) {
      const std::vector<Request>& requests = options_.requests.at(kernel.named.operation);
      if (turn >= requests.size()) continue;
      cases.push_back({&kernel, requests[turn]});
      cases.back().request.value_kind = kind;
    }
    for (const bool is_cold : options_.caches_cold) {
      for (BenchCase& one : cases) {
        one.request.is_cold = is_cold;
        if (!one.kernel->tune.empty()) one.run.reset();
      }
      measure_side_by_side(matrix, cases);
    }
  }

  /// The records of all cases, in their order; only those that are not in the file are measured.
  void measure_side_by_side(BenchMatrix& matrix, std::vector<BenchCase>& cases) {
    std::vector<Json> side_by_side(cases.size());
    std::vector<BenchCase> missing;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto found = finished_.find(
          key_of(identity_of(matrix.digest(), *cases[i].kernel, cases[i].request, place_.machine)));
      if (found != finished_.end()) {
        side_by_side[i] = finished_record(*found->second, matrix);
      } else {
        missing.push_back(std::move(cases[i]));
        places.push_back(i);
      }
    }
    std::vector<Json> measured = record_cases(matrix, missing, place_);
    for (std::size_t i = 0; i < measured.size(); ++i) {
      all_passed_ = all_passed_ && measured[i]["status"] == "done";
      if (file_) file_->append(measured[i]);
      if (options_.as_json) print_record(measured[i]);
      side_by_side[places[i]] = std::move(measured[i]);
      cases[places[i]] = std::move(missing[i]);
    }
    std::move(side_by_side.begin(), side_by_side.end(), std::back_inserter(records_));
  }

  Json finished_record(const FiledRecord& filed, const BenchMatrix& matrix) const {
    require_results(field_of(filed, options_.records));
    Json record = filed.record;
    record["matrix"] = matrix.digest().path;  // under the name it has now
    log_info(name_of_case(record) + " is in the records already");
    return record;
  }

  const BenchOptions& options_;
  const BenchPlace& place_;
  std::unique_ptr<RecordFile> file_;
  std::map<std::string, const FiledRecord*> finished_;  // which record of the file has the case
  std::vector<Json> records_;
  bool all_passed_ = true;
};

bool needs_gpu(const BenchOptions& options) {
  return std::any_of(options.kernels.begin(), options.kernels.end(),
                     [](const BenchKernel& kernel) { return kernel.named.needs_gpu(); });
}

}  // namespace

BenchPlace place_of(const BenchOptions& options) {
  const Execution& where = options.shared.plan.where;
  BenchPlace place;
  place.machine = machine_facts(where.threads);
  place.machine["gpu"] = nullptr;
  place.command_line = options.command_line;
  // Without need the GPU library is not even opened.
  if (!needs_gpu(options) && options.verified.empty()) return place;
  if (gpu_room() == nullptr) return place;
  try {
    place.machine["gpu"] = to_json(gpu_room()->device_info(where.device));
    place.read_gpu = gpu_room()->clock_reader(where.device);
  } catch (const NoDeviceError&) {
    if (options.verified.empty()) throw;
  }
  return place;
}

int run_bench(const BenchOptions& options, const BenchPlace& place) {
  Bench bench(options, place);
  for (const std::string& path : options.matrices) bench.measure(path);
  return bench.finish();
}

}  // namespace csrkit
