#include "tools/ranks/spmm_report.h"

#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/usable_cpus.h"
#include "tools/cli/report.h"
#include "tools/operation/product/run.h"
#include "tools/ranks/rank_records.h"

namespace csrkit {

namespace {

using ranks::SpmmSeconds;

/// What one rank sends to rank 0.
Json record_of(const SpmmDistOptions& options, const SpmmRankFacts& facts, int rank) {
  std::vector<double> totals;
  for (const SpmmSeconds& sample : facts.samples) totals.push_back(sample.total);
  const auto median = [&](double SpmmSeconds::*phase) { return median_of(facts.samples, phase); };
  Json record = {{"rank", rank},
                 {"host", facts.place.host},
                 {"part", options.grid.part_of(rank)},
                 {"group", options.grid.group_of(rank)},
                 {"threads", facts.place.threads},
                 {"cpus", ranges_of(facts.place.cpus)},
                 {"rows", facts.head.rows()},
                 {"dense_cols", facts.columns.size()},
                 {"own_entries", facts.head.own_entries},
                 {"halo_entries", facts.head.entries - facts.head.own_entries},
                 {"halo_cols", facts.head.halo_cols},
                 {"piece_entries", facts.head.piece_entries},
                 {"sums_received", facts.head.sums_received},
                 {"neighbours", facts.head.neighbours},
                 {"bytes_sent", facts.bytes_sent},
                 {"bytes_received", facts.bytes_received},
                 {"kernels", facts.choice},
                 {"phases",
                  {{"read_seconds", facts.read_seconds},
                   {"plan_seconds", facts.plan_seconds},
                   {"pack_seconds", median(&SpmmSeconds::pack)},
                   {"own_seconds", median(&SpmmSeconds::own)},
                   {"exchange_seconds", median(&SpmmSeconds::exchange)},
                   {"halo_seconds", median(&SpmmSeconds::halo)}}},
                 {"samples_seconds", totals}};
  if (facts.gpu)
    record["gpu"] = {{"device", facts.gpu->seat.device}, {"address", facts.gpu->seat.address}};
  if (facts.check) {
    record["check"] = {{"rows_checked", facts.check->rows_checked},
                       {"worst_error_ratio", facts.check->worst_error_ratio}};
  }
  return record;
}

std::string table_of(const std::vector<Json>& records) {
  TextTable table({"rank", "host", "rows", "K", "entries", "halo", "received", "pack", "own",
                   "exchange", "halo part"});
  for (const Json& record : records) {
    const Json& phases = record["phases"];
    const auto seconds = [&](const char* name) {
      return readable_seconds(phases[name].get<double>());
    };
    const auto count = [&](const char* name) {
      return with_commas(record[name].get<std::int64_t>());
    };
    table.add({count("rank"), record["host"].get<std::string>(), count("rows"), count("dense_cols"),
               with_commas(record["own_entries"].get<std::int64_t>() +
                           record["halo_entries"].get<std::int64_t>() +
                           record["piece_entries"].get<std::int64_t>()),
               count("halo_cols"), readable_bytes(record["bytes_received"].get<double>()),
               seconds("pack_seconds"), seconds("own_seconds"), seconds("exchange_seconds"),
               seconds("halo_seconds")});
  }
  return table.text();
}

}  // namespace

std::vector<std::string> spmm_records(const SpmmDistOptions& options, const SpmmRankFacts& mine,
                                      ranks::Communicator& communicator) {
  return communicator.gather(record_of(options, mine, communicator.rank()).dump());
}

void report_spmm_dist(const SpmmDistOptions& options, const CsrFileHeader& header,
                      const SpmmProblem& kinds, const std::vector<std::string>& texts,
                      const SpmmRankFacts& mine, ranks::Communicator& communicator) {
  if (communicator.rank() != 0) return;
  const std::vector<Json> records = parsed_records(texts);
  const double flops = 2 * static_cast<double>(header.nnz) * options.dense_cols * options.power;
  Report report;
  report.add_json("matrix", options.matrix);
  report.add_json("command_line", options.command_line);
  report.add_json("rows", header.rows);
  report.add_json("cols", header.cols);
  report.add_json("nnz", header.nnz);
  report.add_json("dense_cols", options.dense_cols);
  report.add_json("power", options.power);
  report.add_json("kernel", (mine.gpu ? "gpu.spmm." : "cpu.spmm.") + options.kernel);
  report.add_json("kinds", kinds_of(header.value_kind, kinds.b, kinds.c, kinds.accumulate));
  add_launcher(&report);
  report.add("grid", "grid",
             {{"parts", options.grid.parts},
              {"groups", options.grid.groups},
              {"choice", options.grid_choice}},
             text_of(options.grid) + ": " + counted(options.grid.parts, "row part") + " x " +
                 counted(options.grid.groups, "group") + " of columns (" + options.grid_choice +
                 ")");
  report.add("exchange", "exchange", {{"way", mine.exchange.way}, {"choice", mine.exchange.choice}},
             (options.gathers_all ? "all-gather of B, " : "") + mine.exchange.way + " (" +
                 mine.exchange.choice + ")");
  if (mine.gpu) {
    report.add_json("all_gather", options.gathers_all);
    report.add_json("shares_gpus", !mine.gpu->seat.shared.empty());
    if (!mine.gpu->seat.shared.empty()) {
      report.add_text("for a test: " + mine.gpu->seat.shared + "; times mean nothing\n");
    }
  }
  report.add_text(table_of(records));
  const bool reads_in_place = !mine.gpu && mine.exchange.way == name_of(HaloWay::peer);
  add_bytes_moved(&report, records, " in each product",
                  reads_in_place ? "; rows of B are read where they are" : "");
  add_rank_checks(&report, records);
  add_rank_times(&report, records, options.power == 1 ? "product" : "all products", flops,
                 options.output, options.threads);
  print(report, options.as_json);
}

}  // namespace csrkit
