#include "tools/ranks/rank_records.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ranks/mpi_ranks.h"
#include "tools/operation/machine.h"

namespace csrkit {

std::vector<Json> parsed_records(const std::vector<std::string>& texts) {
  std::vector<Json> records;
  records.reserve(texts.size());
  for (const std::string& text : texts) records.push_back(Json::parse(text));
  return records;
}

Samples slowest_of(const std::vector<Json>& records) {
  Samples slowest;
  for (const Json& record : records) {
    const auto mine = record["samples_seconds"].get<std::vector<double>>();
    slowest.seconds.resize(mine.size(), 0);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      slowest.seconds[i] = std::max(slowest.seconds[i], mine[i]);
    }
  }
  return slowest;
}

void add_launcher(Report* report) {
  const std::string launcher = ranks::launcher();
  report->add_json("launcher", launcher.empty() ? "threads" : launcher);
}

void add_bytes_moved(Report* report, const std::vector<Json>& records, const std::string& when,
                     const std::string& note) {
  std::uint64_t total = 0, worst = 0;
  for (const Json& record : records) {
    const auto bytes = record["bytes_received"].get<std::uint64_t>();
    total += bytes;
    worst = std::max(worst, bytes);
  }
  report->add("bytes", "bytes moved", {{"total", total}, {"worst_rank", worst}},
              readable_bytes(static_cast<double>(total)) + when + ", " +
                  readable_bytes(static_cast<double>(worst)) + " to the rank that gets most" +
                  note);
}

void add_rank_checks(Report* report, const std::vector<Json>& records) {
  if (!records.front().contains("check")) return report->add("check", "check", "not checked");
  std::int64_t rows = 0;
  double worst = 0;
  for (const Json& record : records) {
    rows += record["check"]["rows_checked"].get<std::int64_t>();
    worst = std::max(worst, record["check"]["worst_error_ratio"].get<double>());
  }
  report->add("check", "check", {{"rows_checked", rows}, {"worst_error_ratio", worst}},
              "ok, worst error " + fixed(worst, 2) + " of the bound (" + with_commas(rows, "row") +
                  ", some of every rank)");
}

void add_rank_times(Report* report, const std::vector<Json>& records, const std::string& label,
                    double flops, const std::string& output, int threads) {
  const Samples samples = slowest_of(records);
  const double median = samples.median_seconds(), gflops = flops / median / 1e9;
  report->add_json("samples_seconds", samples.seconds);
  report->add("median_seconds", label, median,
              readable_seconds(median) + ", " + fixed(gflops, 2) + " GFLOP/s");
  report->add_json("gflops", gflops);
  if (!output.empty()) report->add("output", "output", output);
  report->add_json("machine", machine_facts(threads));
  report->add_json("ranks", records);
}

}  // namespace csrkit
