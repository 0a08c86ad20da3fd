#include "tools/ranks/spgemm_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/usable_cpus.h"
#include "ranks/mpi_ranks.h"
#include "tools/cli/report.h"
#include "tools/operation/machine.h"
#include "tools/operation/measure.h"

namespace csrkit {

namespace {

template <class Phases>
double median_of(const std::vector<Phases>& all, double Phases::*phase) {
  Samples samples;
  for (const auto& one : all) samples.seconds.push_back(one.*phase);
  return samples.median_seconds();
}

std::string product_table(const std::vector<Json>& records) {
  std::vector<std::string> headings{"rank",          "host",     "rows", "products", "nnz(C)",
                                    "rows received", "received", "ask",  "fetch",    "multiply"};
  const bool is_on_gpus = records.front().contains("gpu");
  if (is_on_gpus) headings.insert(headings.end(), {"upload", "product", "download"});
  TextTable table(headings);
  for (const Json& record : records) {
    const auto count = [&](const char* name) {
      return with_commas(record[name].get<std::int64_t>());
    };
    const auto seconds = [&](const char* name) {
      return readable_seconds(record["phases"][name].get<double>());
    };
    std::vector<std::string> row{count("rank"),
                                 record["host"].get<std::string>(),
                                 count("rows"),
                                 count("products"),
                                 count("output_nnz"),
                                 count("rows_received"),
                                 readable_bytes(record["bytes_received"].get<double>()),
                                 seconds("ask_seconds"),
                                 seconds("fetch_seconds"),
                                 seconds("multiply_seconds")};
    for (const char* const phase : {"upload_seconds", "product_seconds", "download_seconds"}) {
      if (is_on_gpus) row.push_back(seconds(phase));
    }
    table.add(row);
  }
  return table.text();
}

}  // namespace

std::string spgemm_record(const SpgemmRankFacts& facts, const SpgemmShare& share,
                          const SpgemmMade& made, int rank) {
  const auto& traffic = made.local.traffic;
  Json record = {{"rank", rank},
                 {"host", facts.place.host},
                 {"threads", facts.place.threads},
                 {"cpus", ranges_of(facts.place.cpus)},
                 {"rows", share.a.rows()},
                 {"entries", share.a.nnz()},
                 {"products", share.products},
                 {"output_nnz", made.c.nnz()},
                 {"rows_received", traffic.rows_received},
                 {"entries_received", traffic.entries_received},
                 {"bytes_sent", traffic.bytes_sent},
                 {"bytes_received", traffic.bytes_received},
                 {"list_bytes_received", traffic.list_bytes_received},
                 {"choice", made.choice},
                 {"phases",
                  {{"read_seconds", facts.read_seconds},
                   {"ask_seconds", median_of(facts.phases, &ranks::SpgemmSeconds::ask)},
                   {"fetch_seconds", median_of(facts.phases, &ranks::SpgemmSeconds::fetch)},
                   {"multiply_seconds", median_of(facts.phases, &ranks::SpgemmSeconds::multiply)}}},
                 {"samples_seconds", facts.samples}};
  if (facts.gpu) {
    record["gpu"] = {{"device", facts.gpu->device}, {"address", facts.gpu->address}};
    const CsrMatrix &a = made.local.a, &b = made.local.b;
    record["uploaded_bytes"] = a.size_bytes() + (made.problem.b_is_a() ? 0 : b.size_bytes());
    record["downloaded_bytes"] = made.c.size_bytes();
    record["phases"]["upload_seconds"] = median_of(facts.on_gpu, &SpgemmOnGpu::upload);
    record["phases"]["product_seconds"] = median_of(facts.on_gpu, &SpgemmOnGpu::product);
    record["phases"]["download_seconds"] = median_of(facts.on_gpu, &SpgemmOnGpu::download);
  }
  if (facts.check) {
    record["check"] = {{"rows_checked", facts.check->rows_checked},
                       {"worst_error_ratio", facts.check->worst_error_ratio}};
  }
  return record.dump();
}

void report_spgemm_dist(const SpgemmDistOptions& options, const SpgemmShare& share,
                        const std::vector<std::string>& texts, const SpgemmRankFacts& facts,
                        ranks::Communicator& communicator) {
  if (communicator.rank() != 0) return;
  std::vector<Json> records;
  Samples slowest;
  std::int64_t products = 0, nnz = 0, total = 0, worst_bytes = 0, rows_checked = 0;
  double worst_error = 0;
  for (const std::string& text : texts) {
    records.push_back(Json::parse(text));
    const Json& record = records.back();
    products += record["products"].get<std::int64_t>();
    nnz += record["output_nnz"].get<std::int64_t>();
    const auto bytes = record["bytes_received"].get<std::int64_t>();
    total += bytes;
    worst_bytes = std::max(worst_bytes, bytes);
    const auto mine = record["samples_seconds"].get<std::vector<double>>();
    slowest.seconds.resize(mine.size(), 0);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      slowest.seconds[i] = std::max(slowest.seconds[i], mine[i]);
    }
    if (!record.contains("check")) continue;
    rows_checked += record["check"]["rows_checked"].get<std::int64_t>();
    worst_error = std::max(worst_error, record["check"]["worst_error_ratio"].get<double>());
  }
  const std::string launcher = ranks::launcher();
  const double median = slowest.median_seconds();
  const double gflops = 2 * static_cast<double>(products) / median / 1e9;
  Report report;
  report.add_json("matrix", options.a);
  report.add_json("second_matrix", options.b);
  report.add_json("command_line", options.command_line);
  report.add_json("kernel", (options.is_on_gpus ? "gpu.spgemm." : "cpu.spgemm.") + options.kernel);
  report.add_json("launcher", launcher.empty() ? "threads" : launcher);
  report.add_json("rows", share.a_header.rows);
  report.add_json("cols", share.b_header.cols);
  report.add("blocks", "blocks", share.lists ? "file" : "products",
             share.lists ? "the parts of " + options.a : "by products");
  const bool is_in_place = share.all_of_b.has_value();
  report.add("exchange", "rows of B",
             is_in_place                ? "in place"
             : communicator.size() == 1 ? "none"
                                        : "messages",
             is_in_place                ? "in place, in memory that all ranks see"
             : communicator.size() == 1 ? "nothing travels"
                                        : "by messages");
  report.add_text(product_table(records));
  report.add("products", "products", products);
  report.add("output_nnz", "nnz(C)", nnz);
  report.add("bytes", "bytes moved", {{"total", total}, {"worst_rank", worst_bytes}},
             readable_bytes(static_cast<double>(total)) + ", " +
                 readable_bytes(static_cast<double>(worst_bytes)) + " to the rank that gets most");
  if (facts.check) {
    report.add("check", "check",
               {{"rows_checked", rows_checked}, {"worst_error_ratio", worst_error}},
               "ok, worst error " + fixed(worst_error, 2) + " of the bound (" +
                   with_commas(rows_checked, "row") + ", some of every rank)");
  } else {
    report.add("check", "check", "not checked");
  }
  report.add_json("samples_seconds", slowest.seconds);
  report.add("median_seconds", "product", median,
             readable_seconds(median) + ", " + fixed(gflops, 2) + " GFLOP/s");
  report.add_json("gflops", gflops);
  if (!options.output.empty()) report.add("output", "output", options.output);
  report.add_json("machine", machine_facts(options.threads));
  report.add_json("ranks", records);
  print(report, options.as_json);
}

}  // namespace csrkit
