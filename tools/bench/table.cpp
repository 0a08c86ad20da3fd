#include "tools/bench/table.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/contract/kernel_table.h"
#include "tools/bench/ratio.h"
#include "tools/cli/report.h"

namespace csrkit {

namespace {

/// What two records share if one's time may be divided by the other's: all but the kernel and the
/// device it needs.
std::string comparable_part(const Json& identity) {
  Json part = identity;
  for (const char* key : {"kernel", "gpu"}) part.erase(key);
  return part.dump();
}

std::string check_cell(const Json& record) {
  if (record.value("role", "") == name_of(Role::mark)) return "mark";
  const Json& check = record["check"];
  if (check.is_null()) return "none";
  return check["sampled"].get<bool>() ? "ok (sampled)" : "ok";
}

/// How many times faster `own` is than `base`, and where that lies with a confidence of 95 %.
void add_speed(const Json* base, const Json& own, std::vector<std::string>* cells) {
  const Ratio speed = base == nullptr ? Ratio{} : speed_against(*base, own);
  if (speed.value <= 0) {
    cells->insert(cells->end(), {"-", "-"});
    return;
  }
  cells->push_back(fixed(speed.value, 2));
  if (base == &own) {
    cells->push_back("-");
    return;
  }
  cells->push_back(fixed(speed.interval.low, 2) + ".." + fixed(speed.interval.high, 2) +
                   (speed.is_level() ? " level" : ""));
}

}  // namespace

std::string bench_table(const std::vector<Json>& records, const std::string& against) {
  std::map<std::string, const Json*> base;
  std::set<std::string> value_kinds;
  for (const Json& record : records) {
    const Json& identity = record["case"];
    value_kinds.insert(identity["value_kind"].get<std::string>());
    if (identity["kernel"] == against && record["status"] == "done") {
      base[comparable_part(identity)] = &record;
    }
  }
  const bool shows_kinds = value_kinds.size() > 1;
  std::vector<std::string> headers{"matrix", "kernel", "K", "caches"};
  if (shows_kinds) headers.push_back("values");
  headers.insert(headers.end(), {"median ms", "+- %", "min ms", "spread %", "runs", "GFLOP/s",
                                 "GB/s gather", "check"});
  const std::size_t numbers = headers.size();
  if (!against.empty()) {
    headers.insert(headers.end(), {"speed against " + against, "interval"});
  }
  TextTable table(headers);
  for (const Json& record : records) {
    const Json& identity = record["case"];
    std::vector<std::string> cells{record["matrix"].get<std::string>(),
                                   identity["kernel"].get<std::string>(), dense_cols_cell(identity),
                                   identity["caches"].get<std::string>()};
    if (shows_kinds) cells.push_back(identity["value_kind"].get<std::string>());
    if (record["status"] == "done") {
      const double median = record["median_seconds"].get<double>();
      const Json& interval = record["median_interval_seconds"];
      const double width = interval[1].get<double>() - interval[0].get<double>();
      cells.insert(cells.end(),
                   {milliseconds(median), median > 0 ? fixed(50 * width / median, 1) : "-",
                    milliseconds(record["min_seconds"].get<double>()),
                    fixed(100 * record["spread"].get<double>(), 1),
                    std::to_string(record["samples_seconds"].size()),
                    fixed(record["gflops"].get<double>(), 2),
                    record.contains("gather_gb_per_second")
                        ? fixed(record["gather_gb_per_second"].get<double>(), 2)
                        : "-",
                    check_cell(record)});
      if (!against.empty()) {
        const auto found = base.find(comparable_part(identity));
        add_speed(found == base.end() ? nullptr : found->second, record, &cells);
      }
    } else {
      cells.resize(numbers - 1, "-");
      cells.push_back(record["status"].get<std::string>());
      if (!against.empty()) add_speed(nullptr, record, &cells);
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string dense_cols_cell(const Json& identity) {
  return identity["dense_cols"].is_null() ? "-" : identity["dense_cols"].dump();
}

void print_record(const Json& record) {
  print_text(record.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n");
  std::fflush(stdout);
}

}  // namespace csrkit
