#include "tools/bench/verify.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "tools/bench/ratio.h"
#include "tools/bench/record_schema.h"
#include "tools/bench/table.h"
#include "tools/bench/turns.h"
#include "tools/cli/log.h"
#include "tools/cli/report.h"
#include "tools/cli/run_tool.h"
#include "tools/operation/operations.h"

namespace csrkit {

namespace {

constexpr double kClockSeconds = 1e-6;
constexpr double kShareOfTolerance = 4;
constexpr int kMaxRepeat = 1000;
constexpr double kMaxSeconds = 2;  // per attempt
constexpr char kNotRun[] = "NOT RUN";
constexpr char kWrong[] = "WRONG";

/// The matrices that can be had, by digest. One is in memory at a time: bundles list their cases
/// matrix by matrix.
class MatrixShelf {
 public:
  explicit MatrixShelf(const BenchOptions& options) : options_(options), unread_(options.matrices) {
    for (const std::string& path : unread_) InputFile{path};  // refuses what is not there
  }

  /// Null if neither the named matrices nor the recorded place have the content.
  BenchMatrix* find(const Json& record) {
    const std::string digest = record["case"]["matrix_xxh3_128"].get<std::string>();
    if (current_ && current_->digest().xxh3_128 == digest) return current_.get();
    if (const auto found = path_of_.find(digest); found != path_of_.end()) {
      if (has(found->second, digest)) return current_.get();
    }
    while (!unread_.empty()) {
      const std::string path = unread_.front();
      unread_.erase(unread_.begin());
      if (has(path, digest)) return current_.get();
    }
    const std::string path = record.value("matrix", "");
    for (const std::string& place :
         {path, record.value("folder", "") + "/" + path,
          options_.verified.substr(0, options_.verified.rfind('/') + 1) + path}) {
      if (access(place.c_str(), R_OK) != 0) continue;
      try {
        if (has(place, digest)) return current_.get();
      } catch (const InputError& error) {  // something else has the name now
        log_warning(error.what());
      }
    }
    return nullptr;
  }

 private:
  bool has(const std::string& path, const std::string& digest) {
    current_.reset();
    current_ = std::make_unique<BenchMatrix>(path, options_.read);
    path_of_[current_->digest().xxh3_128] = path;
    return current_->digest().xxh3_128 == digest;
  }

  const BenchOptions& options_;
  std::vector<std::string> unread_;  // of those named on the command line
  std::map<std::string, std::string> path_of_;
  std::unique_ptr<BenchMatrix> current_;
};

/// The last good record of each case, in the order of the bundle.
std::vector<FiledRecord> cases_of(const std::string& bundle) {
  std::vector<FiledRecord> cases;
  std::map<std::string, std::size_t> place_of;
  for (FiledRecord& recorded : read_records(bundle)) {
    if (recorded.record["status"] != "done") continue;
    require_repeatable(field_of(recorded, bundle));
    const auto [found, is_new] = place_of.emplace(key_of(recorded.record["case"]), cases.size());
    if (is_new) {
      cases.push_back(std::move(recorded));
    } else {
      cases[found->second] = std::move(recorded);
    }
  }
  if (cases.empty()) {
    throw InputError(bundle + ":1: expected records of csr-bench with status done, found none");
  }
  return cases;
}

/// Measures until the verdict is SAME or the attempts are used up; each attempt plans anew, and all
/// samples count.
Json verified(const FiledRecord& before, BenchMatrix& matrix, const BenchKernel& kernel,
              const BenchOptions& options, const BenchPlace& place) {
  const Json& recorded = before.record;
  Request request = request_of(field_of(before, options.verified)["case"]);
  request.check = options.shared.check;
  request.plan.where = options.shared.plan.where;
  if (request.plan.where.threads == 0) {
    request.plan.where.threads = recorded["case"]["threads"].get<int>();
  }
  // Wide intervals decide nothing: measure until the median is known well within the tolerance.
  const double wanted = options.tolerance / kShareOfTolerance;
  if (request.stop.uncertainty <= 0 || request.stop.uncertainty > wanted) {
    request.stop.uncertainty = wanted;
  }
  request.stop.max_repeat = std::max(request.stop.max_repeat, kMaxRepeat);
  request.stop.max_seconds = kMaxSeconds;
  Json record;
  Samples all;
  Verdict verdict;
  for (int attempt = 0; attempt < options.attempts && verdict.word != "SAME"; ++attempt) {
    std::vector<BenchCase> alone(1);
    alone[0] = {&kernel, request};
    record = record_cases(matrix, alone, place).front();
    if (record["status"] != "done") {
      record["verdict"] = {{"word", kWrong}, {"reason", record["reason"]}};
      return record;
    }
    const Samples now = samples_of(record);
    all.seconds.insert(all.seconds.end(), now.seconds.begin(), now.seconds.end());
    verdict = verdict_of(samples_of(recorded), all, options.tolerance);
  }
  record["verdict"] = {{"word", verdict.word},
                       {"ratio", verdict.ratio},
                       {"ratio_interval", {verdict.interval.low, verdict.interval.high}},
                       {"recorded_median_seconds", recorded["median_seconds"]},
                       {"all_samples_seconds", all.seconds}};
  return record;
}

Json not_run(const Json& recorded, const std::string& reason) {
  Json record{{"schema", kRecordSchema},
              {"matrix", recorded["matrix"]},
              {"case", recorded["case"]},
              {"status", "failed"},
              {"reason", reason}};
  record["verdict"] = {{"word", kNotRun}, {"reason", reason}};
  log_error(name_of_case(record) + ": " + reason);
  return record;
}

void warn_about_another_machine(const Json& recorded, const BenchPlace& place, bool& has_warned) {
  const bool is_same_cpu = recorded["case"]["cpu"] == place.machine["cpu"];
  const Json& gpu = recorded["case"]["gpu"];
  const bool is_same_gpu = gpu.is_null() || gpu == place.machine["gpu"];
  if (has_warned || (is_same_cpu && is_same_gpu)) return;
  has_warned = true;
  log_warning("the records were made on another machine or driver (" +
              recorded["case"]["cpu"].get<std::string>() +
              "); the verdicts compare the machines too");
}

std::string verify_table(const std::vector<Json>& records) {
  // What would be the same in every row is left out.
  std::set<std::string> kinds, hows;
  for (const Json& record : records) {
    kinds.insert(record["case"]["value_kind"].get<std::string>());
    hows.insert(how_cell(record["case"]));
  }
  std::vector<std::string> headers{"matrix", "kernel", "K", "caches"};
  if (kinds.size() > 1) headers.push_back("values");
  if (hows.size() > 1) headers.push_back("how");
  headers.insert(headers.end(), {"recorded ms", "now ms", "ratio", "interval", "verdict"});
  TextTable table(headers);
  for (const Json& record : records) {
    const Json& identity = record["case"];
    const Json& verdict = record["verdict"];
    std::vector<std::string> cells{record["matrix"].get<std::string>(),
                                   identity["kernel"].get<std::string>(), dense_cols_cell(identity),
                                   identity["caches"].get<std::string>()};
    if (kinds.size() > 1) cells.push_back(identity["value_kind"].get<std::string>());
    if (hows.size() > 1) {
      const std::string how = how_cell(identity);
      cells.push_back(how.empty() ? "-" : how);
    }
    if (verdict.contains("ratio")) {
      const double before = verdict["recorded_median_seconds"].get<double>();
      const double ratio = verdict["ratio"].get<double>();
      const Json& interval = verdict["ratio_interval"];
      cells.insert(
          cells.end(),
          {milliseconds(before), milliseconds(before * ratio), fixed(ratio, 3),
           fixed(interval[0].get<double>(), 3) + ".." + fixed(interval[1].get<double>(), 3)});
    } else {
      cells.insert(cells.end(), {"-", "-", "-", "-"});
    }
    cells.push_back(verdict["word"].get<std::string>());
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace

Verdict verdict_of(const Samples& recorded, const Samples& now, double tolerance) {
  const double before = recorded.median_seconds();
  const Ratio ratio = ratio_of_medians(now, recorded);
  if (ratio.value <= 0) return {"AMBIGUOUS", 0, {0, 0}};
  Verdict verdict{"", ratio.value, ratio.interval};
  const double clock = kClockSeconds / before;
  const double high = 1 + std::max(tolerance, clock);
  const double low = std::min(1 / (1 + tolerance), 1 - clock);
  const Interval& interval = verdict.interval;
  verdict.word = interval.low >= low && interval.high <= high ? "SAME"
                 : interval.high < low                        ? "FAST"
                 : interval.low > high                        ? "SLOW"
                                                              : "AMBIGUOUS";
  return verdict;
}

int run_verify(const BenchOptions& options, const BenchPlace& place) {
  const std::vector<FiledRecord> recorded = cases_of(options.verified);
  std::unique_ptr<RecordFile> file;
  if (!options.records.empty()) file = std::make_unique<RecordFile>(options.records);
  MatrixShelf shelf(options);
  std::vector<Json> records;
  std::map<std::string, int> count_of;
  bool has_warned = false;
  for (const FiledRecord& before : recorded) {
    const Json& identity = before.record["case"];
    warn_about_another_machine(before.record, place, has_warned);
    Json record;
    try {
      BenchKernel kernel{find_kernel_anywhere(identity["kernel"].get<std::string>(), "the bundle")};
      if (identity.value("tuned", false)) {
        if (options.tune.empty()) throw UsageError("it was tuned: name a file with --tune");
        kernel.tune = options.tune;
      }
      BenchMatrix* matrix = shelf.find(before.record);
      record = matrix != nullptr
                   ? verified(before, *matrix, kernel, options, place)
                   : not_run(before.record, "no file with the digest " +
                                                identity["matrix_xxh3_128"].get<std::string>() +
                                                " was found; name it on the command line");
    } catch (const UsageError& error) {
      record = not_run(before.record, error.what());
    } catch (const NoDeviceError& error) {
      record = not_run(before.record, error.what());
    }
    ++count_of[record["verdict"]["word"].get<std::string>()];
    if (file) file->append(record);
    if (options.as_json) print_record(record);
    records.push_back(std::move(record));
  }
  if (!options.as_json && log_level() != LogLevel::quiet) {
    std::string summary;
    for (const auto& [word, count] : count_of) {
      append_item(summary, std::to_string(count) + " " + word);
    }
    print_text(verify_table(records) + "\n" + counted(records.size(), "case") + ": " + summary +
               "\n");
  }
  const bool is_well =
      count_of.count("SLOW") + count_of.count(kNotRun) + count_of.count(kWrong) == 0;
  return is_well ? kExitDone : kExitCheckFailed;
}

}  // namespace csrkit
