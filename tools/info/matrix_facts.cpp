#include "tools/info/matrix_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "preprocess/reorder/parts/partition_borders.h"

namespace csrkit {

std::string symmetry_text(const CsrFlags& flags, bool is_square) {
  if (flags.is_value_symmetric) return "yes";
  if (flags.is_pattern_symmetric) return "pattern only";
  return is_square ? "no" : "no (not square)";
}

void add_shape(Report& report, const CsrMatrix& matrix) {
  report.add("rows", "rows", static_cast<std::int64_t>(matrix.rows()));
  report.add("cols", "cols", static_cast<std::int64_t>(matrix.cols()));
  report.add("nnz", "nnz", matrix.nnz());
  report.add("value_kind", "values", name_of(matrix.value_kind()));
}

void add_partition(Report& report, const Partition& partition, const CsrMatrix& matrix) {
  const double balance = partition_balance(partition);
  report.add("parts", "parts", static_cast<std::int64_t>(partition.parts));
  report.add("balance", "largest part by mean", balance, fixed(balance, 3));
  if (partition.borders == nullptr) return;
  const Buffer<Offset>& borders = *partition.borders;
  Offset sum = 0, largest = 0;
  for (Offset part = 1; part < borders.size(); ++part) {
    sum += borders[part];
    largest = std::max(largest, borders[part]);
  }
  const double share =
      matrix.nnz() > 0 ? static_cast<double>(borders[0]) / static_cast<double>(matrix.nnz()) : 0;
  report.add("cut_entries", "entries between parts", Json(borders[0]),
             with_commas(borders[0]) + " (" + fixed(100 * share, 1) + " %)");
  report.add("halo_sum", "halo of all parts", sum);
  report.add("halo_largest", "largest halo", largest);
}

Json to_json(const MatrixStats& stats) {
  const RowLengthProfile& lengths = stats.row_lengths;
  return {{"row_lengths",
           {{"shortest", lengths.shortest},
            {"p25", lengths.p25},
            {"median", lengths.median},
            {"p75", lengths.p75},
            {"p90", lengths.p90},
            {"p99", lengths.p99},
            {"longest", lengths.longest},
            {"longest_row", lengths.longest_row},
            {"mean", lengths.mean},
            {"standard_deviation", lengths.standard_deviation},
            {"rows_by_log2", lengths.rows_by_log2}}},
          {"empty_rows", lengths.empty_rows},
          {"empty_cols", stats.empty_cols},
          {"bandwidth", stats.locality.bandwidth},
          {"mean_distance", stats.locality.mean_distance},
          {"entries_per_touched_tile", stats.locality.entries_per_touched_tile},
          {"is_pattern_symmetric", stats.symmetry.is_pattern_symmetric},
          {"is_value_symmetric", stats.symmetry.is_value_symmetric},
          {"pattern_share", stats.symmetry.pattern_share},
          {"diagonal_entries", stats.symmetry.diagonal_entries}};
}

std::string row_length_histogram(const RowLengthProfile& profile) {
  constexpr Index kBarWidth = 40;
  Index most = 0;
  for (const Index rows : profile.rows_by_log2) most = std::max(most, rows);
  TextTable table({"row length", "rows", ""});
  for (std::size_t k = 0; k < profile.rows_by_log2.size(); ++k) {
    const Offset from = k == 0 ? 0 : Offset{1} << (k - 1);
    const Offset to = k == 0 ? 0 : (Offset{1} << k) - 1;
    const std::string range =
        from == to ? with_commas(from) : with_commas(from) + "-" + with_commas(to);
    const Index rows = profile.rows_by_log2[k];
    // At least one mark for any rows at all: hubs are few and matter most.
    const Offset bar = most == 0 ? 0 : (Offset{rows} * kBarWidth + most - 1) / most;
    table.add({range, with_commas(rows), std::string(static_cast<std::size_t>(bar), '#')});
  }
  return table.text();
}

}  // namespace csrkit
