#include "tools/reorder/run.h"

#include <nlohmann/json.hpp>

#include "api/reordering.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/file/npy_file.h"
#include "preprocess/reorder/parts/partition_borders.h"
#include "tools/advise/advise.h"
#include "tools/cli/log.h"
#include "tools/cli/provenance.h"
#include "tools/info/matrix_facts.h"

namespace csrkit {

namespace {

std::string method_text(const ReorderToolOptions& options) {
  std::string text = options.is_undo ? "undo" : "";
  if (!options.order_from.empty()) text = "order of " + options.order_from;
  if (!options.partition_from.empty()) text = "parts of " + options.partition_from;
  for (const std::string& method : options.methods) {
    append_item(text, method, ", then ");
  }
  return text;
}

/// Of the parts that the file holds, if its graph has any.
std::optional<double> modularity_of(const CsrFile& file) {
  if (!file.partition || file.matrix.rows() != file.matrix.cols() ||
      file.partition->parts > file.matrix.rows()) {
    return std::nullopt;
  }
  return partition_modularity(file.matrix, *file.partition);
}

/// What provenance keeps of a reordering beside the command line.
Json details_of(const ReorderToolOptions& options, Sides sides, const ReorderRun& run) {
  Json details{
      {"methods", options.methods},
      {"sides", name_of(sides)},
      {"direction", "row_new_of_old and col_new_of_old lead from the import to this file"}};
  if (!is_time_given()) details["order_seconds"] = run.order_seconds;
  if (run.modularity) details["modularity"] = *run.modularity;
  return details;
}

/// The order or the partition of another program, applied; else the file as it is.
CsrFile with_outside_order(const ReorderToolOptions& options, const CsrFile& file, Sides sides) {
  const bool is_square = file.matrix.rows() == file.matrix.cols();
  if (options.order_from.empty() && options.partition_from.empty()) return file;
  if (sides == Sides::both && !is_square) {
    throw UsageError("one order for rows and columns needs a square matrix, this one is " +
                     std::to_string(file.matrix.rows()) + " x " +
                     std::to_string(file.matrix.cols()) + "; say --sides=rows or --sides=cols");
  }
  if (!options.partition_from.empty()) {
    return in_order(file, read_outside_partition(options.partition_from, file.matrix.rows()),
                    sides);
  }
  const bool is_of_cols = sides == Sides::cols;
  const Index size = is_of_cols ? file.matrix.cols() : file.matrix.rows();
  return in_order(file,
                  read_outside_order(options.order_from, size, options.direction,
                                     is_of_cols ? "column" : "row"),
                  sides);
}

/// metis-partition chooses the number of parts by a cache; with one part it leaves all as it was.
/// Fewer than two rows have no other order.
void say_if_one_part(const ReorderToolOptions& options, const CsrFile& file) {
  if (file.matrix.rows() < 2 || options.methods.empty() ||
      options.methods.back() != "metis-partition" ||
      options.reorder.parameters.count("parts") > 0 || !file.partition ||
      file.partition->parts > 1) {
    return;
  }
  log_warning(
      "metis-partition made one part, in which rows stay in their order: all rows of B fit its "
      "cache. --parts N makes more, and so does a smaller --cache-size or more --dense-cols");
}

/// The three measures that tell most, on three lines.
void add_pattern_change(Report& report, const LocalityProfile& before,
                        const LocalityProfile& after) {
  const auto change = [&](const char* key, const char* label, const Json& from, const Json& to,
                          const std::string& from_text, const std::string& to_text) {
    report.add(key, label, Json{{"before", from}, {"after", to}}, from_text + " -> " + to_text);
  };
  change("bandwidth", "bandwidth", before.bandwidth, after.bandwidth, with_commas(before.bandwidth),
         with_commas(after.bandwidth));
  change("mean_distance", "mean distance", before.mean_distance, after.mean_distance,
         fixed(before.mean_distance, 4), fixed(after.mean_distance, 4));
  change("entries_per_touched_tile", "nonzeros per touched 32x32 tile",
         before.entries_per_touched_tile, after.entries_per_touched_tile,
         fixed(before.entries_per_touched_tile, 2), fixed(after.entries_per_touched_tile, 2));
}

}  // namespace

ReorderRun reorder_file(const ReorderToolOptions& options, const CsrFile& before) {
  const Sides sides = sides_of(options.sides, before.matrix);
  const Stopwatch watch;
  ReorderRun run{options.is_undo ? restored(before, "'" + options.input + "'")
                                 : reordered(with_outside_order(options, before, sides),
                                             options.methods, sides, options.reorder),
                 0, std::nullopt};
  run.order_seconds = watch.seconds();
  say_if_one_part(options, run.file);
  run.modularity = modularity_of(run.file);
  const Json details = options.is_undo ? Json() : details_of(options, sides, run);
  std::vector<FileDigest> inputs = {digest_file(options.input)};
  for (const std::string& file : {options.order_from, options.partition_from}) {
    if (!file.empty()) inputs.push_back(digest_file(file));
  }
  run.file.provenance = append_step(
      before.provenance, {options.command_line, inputs, options.is_undo ? nullptr : &details});
  return run;
}

void add_reorder(Report& report, const ReorderToolOptions& options, const CsrFile& before,
                 const ReorderRun& run) {
  const CsrFile& after = run.file;
  report.add("output", "output", options.output);
  report.add("method", "method", method_text(options));
  add_shape(report, after.matrix);
  if (after.partition) add_partition(report, *after.partition, after.matrix);
  if (run.modularity) {
    report.add("modularity", "modularity of the parts", Json(*run.modularity),
               fixed(*run.modularity, 4));
  }
  report.add_json("has_lost_ranks", before.ranks.has_value());
  if (before.ranks) {
    report.add_line("parts for ranks", "left out, as rows have moved; run csr-partition again");
  }
  report.add_seconds("order_seconds", "ordering", run.order_seconds);
  if (options.is_reported) {
    add_locality_change(report, locality_facts(before.matrix, options.locality),
                        locality_facts(after.matrix, options.locality), run.order_seconds,
                        options.locality);
  } else {
    add_pattern_change(report, locality_profile(before.matrix), locality_profile(after.matrix));
  }
}

void move_operand(const ReorderToolOptions& options, const CsrFile& file) {
  const DenseMatrix moved = operand_moved(read_npy(options.operand), file, options.sides,
                                          options.is_undo, "'" + options.input + "'");
  write_npy(options.output, moved.view());
  Report report;
  report.add("output", "output", options.output);
  report.add("rows", "rows", static_cast<std::int64_t>(moved.rows()));
  report.add("cols", "cols", static_cast<std::int64_t>(moved.cols()));
  report.add("order", "order", options.is_undo ? "that at import" : "that of " + options.input);
  print(report, options.as_json);
}

void give_advice(const ReorderToolOptions& options, const CsrMatrix& matrix) {
  AdviseRequest request;
  request.dense_cols = options.locality.dense_cols;
  request.machine = *options.locality.machine;
  request.sample_entries = options.sample_entries;
  request.multiplications = options.multiplications;
  request.reorder = options.reorder;
  Report report;
  add_shape(report, matrix);
  add_advice(report, advise(matrix, request), request);
  print(report, options.as_json);
}

}  // namespace csrkit
