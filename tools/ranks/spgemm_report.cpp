#include "tools/ranks/spgemm_report.h"

#include <nlohmann/json.hpp>

#include "core/base/usable_cpus.h"
#include "tools/cli/report.h"
#include "tools/ranks/rank_records.h"

namespace csrkit {

namespace {

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
                        const std::vector<std::string>& texts, ranks::Communicator& communicator) {
  if (communicator.rank() != 0) return;
  const std::vector<Json> records = parsed_records(texts);
  std::int64_t products = 0, nnz = 0;
  for (const Json& record : records) {
    products += record["products"].get<std::int64_t>();
    nnz += record["output_nnz"].get<std::int64_t>();
  }
  Report report;
  report.add_json("matrix", options.a);
  report.add_json("second_matrix", options.b);
  report.add_json("command_line", options.command_line);
  report.add_json("kernel", (options.is_on_gpus ? "gpu.spgemm." : "cpu.spgemm.") + options.kernel);
  add_launcher(&report);
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
  add_bytes_moved(&report, records, "", "");
  add_rank_checks(&report, records);
  add_rank_times(&report, records, "product", 2 * static_cast<double>(products), options.output,
                 options.threads);
  print(report, options.as_json);
}

}  // namespace csrkit
