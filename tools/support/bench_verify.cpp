#include "tools/support/bench_verify.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tools/support/bench_table.h"
#include "tools/support/log.h"
#include "tools/support/record_file.h"
#include "tools/support/report.h"
#include "tools/support/run_tool.h"

namespace csrkit {

namespace {

constexpr double kClockSeconds = 1e-6;
constexpr double kShareOfTolerance = 4;
constexpr int kMaxRepeat = 1000;
constexpr double kMaxSeconds = 2;  // per attempt
constexpr char kNotRun[] = "NOT RUN";
constexpr char kWrong[] = "WRONG";

/// The matrices that can be had, by digest; each is read when its first case comes.
class MatrixShelf {
 public:
  explicit MatrixShelf(const BenchOptions& options) : options_(options) {
    for (const std::string& path : options.matrices) add(path);
  }

  /// Null if neither the named matrices nor the recorded place have the content.
  BenchMatrix* find(const Json& record) {
    const std::string digest = record["case"]["matrix_xxh3_128"].get<std::string>();
    if (matrices_.count(digest) == 0) {
      const std::string path = record.value("matrix", "");
      for (const std::string& place :
           {path, record.value("folder", "") + "/" + path,
            options_.verified.substr(0, options_.verified.rfind('/') + 1) + path}) {
        if (!place.empty() && access(place.c_str(), R_OK) == 0) add(place);
        if (matrices_.count(digest) > 0) break;
      }
    }
    // One matrix at a time is in memory: bundles list their cases matrix by matrix.
    for (auto& [key, matrix] : matrices_) {
      if (key != digest) matrix = std::make_unique<BenchMatrix>(matrix->digest(), options_.read);
    }
    const auto found = matrices_.find(digest);
    return found == matrices_.end() ? nullptr : found->second.get();
  }

 private:
  void add(const std::string& path) {
    auto matrix = std::make_unique<BenchMatrix>(path, options_.read);
    matrices_.emplace(matrix->digest().xxh3_128, std::move(matrix));
  }

  const BenchOptions& options_;
  std::map<std::string, std::unique_ptr<BenchMatrix>> matrices_;
};

Samples samples_of(const Json& record) {
  return {record.at("samples_seconds").get<std::vector<double>>()};
}

/// The last good record of each case, in the order of the bundle.
std::vector<Json> cases_of(const std::string& bundle) {
  std::vector<Json> cases;
  std::map<std::string, std::size_t> place_of;
  for (Json& record : read_records(bundle)) {
    if (record.value("status", "") != "done" || !record.contains("case")) continue;
    const auto [found, is_new] = place_of.emplace(record["case"].dump(), cases.size());
    if (is_new) {
      cases.push_back(std::move(record));
    } else {
      cases[found->second] = std::move(record);
    }
  }
  if (cases.empty()) {
    throw InputError(bundle + ":1: expected records of csr-bench with status done, found none");
  }
  return cases;
}

/// Measures until the verdict is SAME or the attempts are used up; each attempt plans anew, and all
/// samples count.
Json verified(const Json& recorded, BenchMatrix& matrix, const BenchKernel& kernel,
              const BenchOptions& options, const BenchPlace& place) {
  MultiplyRequest request = request_of(recorded["case"]);
  request.check = options.multiply.check;
  request.plan.where = options.multiply.plan.where;
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
    record = record_case(matrix, kernel, request, place);
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
  Json record{{"matrix", recorded["matrix"]},
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
  TextTable table(
      {"matrix", "kernel", "K", "caches", "recorded ms", "now ms", "ratio", "interval", "verdict"});
  for (const Json& record : records) {
    const Json& identity = record["case"];
    const Json& verdict = record["verdict"];
    std::vector<std::string> cells{record["matrix"].get<std::string>(),
                                   identity["kernel"].get<std::string>(), dense_cols_cell(identity),
                                   identity["caches"].get<std::string>()};
    if (verdict.contains("ratio")) {
      const double before = verdict["recorded_median_seconds"].get<double>();
      const double ratio = verdict["ratio"].get<double>();
      const Json& interval = verdict["ratio_interval"];
      cells.insert(
          cells.end(),
          {fixed(before * 1e3, 3), fixed(before * ratio * 1e3, 3), fixed(ratio, 3),
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
  Verdict verdict;
  const double before = recorded.median_seconds(), after = now.median_seconds();
  if (!(before > 0) || !(after > 0)) return {"AMBIGUOUS", 0, {0, 0}};
  verdict.ratio = after / before;
  // Relative half-widths of independent intervals add up as squares, on the scale of logarithms.
  const Interval old_interval = recorded.median_interval(), new_interval = now.median_interval();
  const double down =
      std::hypot(std::log(old_interval.high / before), std::log(after / new_interval.low));
  const double up =
      std::hypot(std::log(before / old_interval.low), std::log(new_interval.high / after));
  verdict.interval = {verdict.ratio * std::exp(-down), verdict.ratio * std::exp(up)};
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

int run_verify(const BenchOptions& options, const BenchRooms& rooms, const BenchPlace& place) {
  const std::vector<Json> recorded = cases_of(options.verified);
  std::unique_ptr<RecordFile> file;
  if (!options.records.empty()) file = std::make_unique<RecordFile>(options.records);
  MatrixShelf shelf(options);
  std::vector<Json> records;
  std::map<std::string, int> count_of;
  bool has_warned = false;
  for (const Json& before : recorded) {
    warn_about_another_machine(before, place, has_warned);
    Json record;
    BenchMatrix* matrix = shelf.find(before);
    if (matrix == nullptr) {
      record = not_run(before, "no file with the digest " +
                                   before["case"]["matrix_xxh3_128"].get<std::string>() +
                                   " was found; name it on the command line");
    } else {
      try {
        BenchKernel kernel =
            find_in_rooms(rooms, before["case"]["kernel"].get<std::string>(), "the bundle");
        if (before["case"].value("tuned", false)) {
          if (options.tune.empty()) throw UsageError("it was tuned: name a file with --tune");
          kernel.tune = options.tune;
        }
        record = verified(before, *matrix, kernel, options, place);
      } catch (const UsageError& error) {
        record = not_run(before, error.what());
      } catch (const NoDeviceError& error) {
        record = not_run(before, error.what());
      }
    }
    ++count_of[record["verdict"]["word"].get<std::string>()];
    if (file) file->append(record);
    if (options.as_json) print_record(record);
    records.push_back(std::move(record));
  }
  if (!options.as_json && log_level() != LogLevel::quiet) {
    std::string summary;
    for (const auto& [word, count] : count_of) {
      summary += (summary.empty() ? "" : ", ") + std::to_string(count) + " " + word;
    }
    std::fputs((verify_table(records) + "\n" + std::to_string(records.size()) +
                " cases: " + summary + "\n")
                   .c_str(),
               stdout);
  }
  const bool is_well =
      count_of.count("SLOW") + count_of.count(kNotRun) + count_of.count(kWrong) == 0;
  return is_well ? kExitDone : kExitCheckFailed;
}

}  // namespace csrkit
