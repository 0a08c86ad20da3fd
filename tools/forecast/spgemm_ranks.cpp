#include "tools/forecast/spgemm_ranks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/share_of.h"
#include "core/facts/matrix_stats.h"
#include "core/file/csr_rows.h"
#include "tools/cli/matrix_input.h"
#include "tools/cli/report.h"

namespace csrkit {

namespace {

std::size_t part_with(const std::vector<Index>& borders, Index item) {
  return static_cast<std::size_t>(std::upper_bound(borders.begin(), borders.end(), item) -
                                  borders.begin() - 1);
}

PartBorders borders_of(const PartLevel& level) {
  PartBorders borders{{0}, {0}};
  for (const PartHead& head : level.parts) {
    borders.rows.push_back(head.row_end);
    borders.cols.push_back(head.col_end);
  }
  return borders;
}

Json to_json(const SpgemmRanksForecast& forecast) {
  return {{"ranks", forecast.ranks},
          {"blocks_from", forecast.is_of_file ? "file" : "products"},
          {"moved_bytes", forecast.moved_bytes},
          {"worst_received_bytes", forecast.worst_received_bytes},
          {"worst_sent_bytes", forecast.worst_sent_bytes},
          {"products", forecast.products},
          {"worst_products", forecast.worst_products},
          {"most_speed_up", forecast.most_speed_up()}};
}

}  // namespace

double SpgemmRanksForecast::most_speed_up() const {
  return worst_products == 0 ? 1
                             : static_cast<double>(products) / static_cast<double>(worst_products);
}

PartBorders borders_by_products(const CsrMatrix& a, const Offset* b_offsets, Index b_rows,
                                Index ranks) {
  // As ranks::borders_by_products, whose rows are spread over the ranks.
  std::vector<Offset> sums(static_cast<std::size_t>(a.rows()) + 1);
  spgemm_products(a, b_offsets, sums.data() + 1);
  for (std::size_t row = 1; row < sums.size(); ++row) sums[row] += sums[row - 1] + 1;
  PartBorders borders{{0}, balanced_borders(b_offsets, b_rows, ranks)};
  for (Index rank = 1; rank < ranks; ++rank) {
    const Offset target = share_of(sums.back(), rank, ranks);
    // No share at all is in no row.
    const auto at = target == 0 ? sums.end() : std::lower_bound(sums.begin(), sums.end(), target);
    borders.rows.push_back(at == sums.end() ? a.rows() : static_cast<Index>(at - sums.begin()));
  }
  borders.rows.push_back(a.rows());
  std::sort(borders.rows.begin(), borders.rows.end());
  return borders;
}

SpgemmRanksForecast forecast_spgemm_ranks(const CsrMatrix& a, const Offset* b_offsets,
                                          std::uint64_t entry_bytes, const PartBorders& borders) {
  SpgemmRanksForecast forecast;
  forecast.ranks = borders.parts();
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(forecast.ranks), 0);
  std::vector<Offset> products_of(static_cast<std::size_t>(a.rows()));
  forecast.products = spgemm_products(a, b_offsets, products_of.data());
  std::vector<Index> seen_by(static_cast<std::size_t>(a.cols()), -1);
  for (Index rank = 0; rank < forecast.ranks; ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    const Index own_begin = borders.cols[place], own_end = borders.cols[place + 1];
    std::uint64_t received = 0;
    Offset products = 0;
    for (Index row = borders.rows[place]; row < borders.rows[place + 1]; ++row) {
      products += products_of[static_cast<std::size_t>(row)];
      for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
        const Index col = a.col_indices()[at];
        Index& seen = seen_by[static_cast<std::size_t>(col)];
        if (seen == rank || (col >= own_begin && col < own_end)) continue;
        seen = rank;
        const auto entries =
            static_cast<std::uint64_t>(b_offsets[Offset{col} + 1] - b_offsets[col]);
        received += entries * entry_bytes;
        sent[part_with(borders.cols, col)] += entries * entry_bytes;
      }
    }
    forecast.moved_bytes += received;
    forecast.worst_received_bytes = std::max(forecast.worst_received_bytes, received);
    forecast.worst_products = std::max(forecast.worst_products, products);
  }
  forecast.worst_sent_bytes = *std::max_element(sent.begin(), sent.end());
  return forecast;
}

void report_spgemm_ranks(const Options& options) {
  const std::string path = options.names().front(), second = options.names().back();
  const CsrFileHeader header = read_csr_header(path), b = read_csr_header(second);
  if (header.cols != b.rows) {
    throw UsageError("'" + path + "' has " + counted(header.cols, "column") + " and '" + second +
                     "' " + counted(b.rows, "row") + "; a product needs as many");
  }
  const CsrMatrix a = read_csr_file(path, read_options(options)).matrix;
  const Buffer<Offset> b_offsets = read_row_offsets(second);
  const auto entry_bytes = sizeof(Index) + static_cast<std::uint64_t>(size_of(b.value_kind));
  const std::vector<PartLevel> levels = read_rank_heads(path);
  std::set<Index> wanted;
  for (const std::int64_t ranks : options.different_integers("ranks", 1, rank_layout::kMaxParts)) {
    wanted.insert(static_cast<Index>(ranks));
  }

  Report report;
  report.add("matrix", "matrix", path);
  report.add("second_matrix", "second matrix", second);
  report.add("operation", "operation", "spgemm");
  TextTable table({"ranks", "blocks from", "moved", "worst rank", "products", "of the worst rank",
                   "speed-up at most"});
  Json rows = Json::array();
  for (const Index ranks : wanted) {
    std::vector<SpgemmRanksForecast> both;
    for (const PartLevel& level : levels) {
      if (level.parts.size() != static_cast<std::size_t>(ranks) || has_pieces(level)) continue;
      both.push_back(forecast_spgemm_ranks(a, b_offsets.data(), entry_bytes, borders_of(level)));
      both.back().is_of_file = true;
    }
    both.push_back(forecast_spgemm_ranks(a, b_offsets.data(), entry_bytes,
                                         borders_by_products(a, b_offsets.data(), b.rows, ranks)));
    for (const SpgemmRanksForecast& one : both) {
      table.add({with_commas(one.ranks), one.is_of_file ? "file" : "products",
                 readable_bytes(static_cast<double>(one.moved_bytes)),
                 readable_bytes(static_cast<double>(one.worst_received_bytes)),
                 with_commas(one.products), with_commas(one.worst_products),
                 fixed(one.most_speed_up(), 2)});
      rows.push_back(to_json(one));
    }
  }
  report.add_text("\n" + table.text());
  report.add_json("blocks", rows);
  print(report, options.json());
}

}  // namespace csrkit
