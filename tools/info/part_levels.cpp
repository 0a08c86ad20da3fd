#include "tools/info/part_levels.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace csrkit {

LevelFacts level_facts(const PartLevel& level) {
  LevelFacts facts;
  facts.parts = static_cast<Index>(level.parts.size());
  Offset entries = 0, most_entries = 0, rows = 0, most_rows = 0;
  for (const PartHead& head : level.parts) {
    entries += head.entries + head.piece_entries;
    most_entries = std::max(most_entries, head.entries + head.piece_entries);
    facts.sums += head.sums_received;
    rows += head.rows();
    most_rows = std::max<Offset>(most_rows, head.rows());
    facts.cut_entries += head.entries - head.own_entries;
    facts.halo_cols += head.halo_cols;
    facts.largest_halo = std::max(facts.largest_halo, head.halo_cols);
    facts.largest_send = std::max(facts.largest_send, head.send_cols);
    facts.most_neighbours = std::max(facts.most_neighbours, head.neighbours);
  }
  const auto by_mean = [&](Offset most, Offset sum) {
    return sum > 0 ? static_cast<double>(most) * facts.parts / static_cast<double>(sum) : 0;
  };
  facts.imbalance = by_mean(most_entries, entries);
  facts.row_imbalance = by_mean(most_rows, rows);
  return facts;
}

Json to_json(const LevelFacts& facts) {
  Json json{{"parts", facts.parts},
            {"imbalance", facts.imbalance},
            {"row_imbalance", facts.row_imbalance},
            {"cut_entries", facts.cut_entries},
            {"halo_cols", facts.halo_cols},
            {"largest_halo_cols", facts.largest_halo},
            {"largest_send_cols", facts.largest_send},
            {"most_neighbours", facts.most_neighbours}};
  // Files without split rows keep the history, and so the bytes, that they always had.
  if (facts.sums > 0) json["sums"] = facts.sums;
  return json;
}

void add_levels(Report& report, const std::vector<LevelFacts>& levels, Offset nnz,
                const std::vector<LevelFacts>& plain) {
  std::vector<std::string> headers{"parts",       "imbalance",    "of rows",   "cut entries",
                                   "halo of all", "largest halo", "neighbours"};
  const bool has_sums = std::any_of(levels.begin(), levels.end(),
                                    [](const LevelFacts& facts) { return facts.sums > 0; });
  if (has_sums) headers.emplace_back("sums of split rows");
  if (!plain.empty()) headers.insert(headers.end(), {"halo of plain blocks", "gained"});
  TextTable table(headers);
  Json json = Json::array();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const LevelFacts& facts = levels[l];
    const double share =
        nnz > 0 ? static_cast<double>(facts.cut_entries) / static_cast<double>(nnz) : 0;
    std::vector<std::string> cells{
        with_commas(facts.parts),
        fixed(facts.imbalance, 3),
        fixed(facts.row_imbalance, 3),
        with_commas(facts.cut_entries) + " (" + fixed(100 * share, 1) + " %)",
        with_commas(facts.halo_cols),
        with_commas(facts.largest_halo),
        with_commas(facts.most_neighbours)};
    if (has_sums) cells.push_back(with_commas(facts.sums));
    Json row = to_json(facts);
    if (!plain.empty()) {
      row["plain_blocks"] = to_json(plain[l]);
      const auto of_plain = static_cast<double>(plain[l].halo_cols);
      const bool has_plain = plain[l].halo_cols > 0;
      const double gained =
          has_plain ? 1 - static_cast<double>(facts.halo_cols + facts.sums) / of_plain : 0;
      row["gained_over_plain_blocks"] = has_plain ? Json(gained) : Json(nullptr);
      cells.push_back(with_commas(plain[l].halo_cols));
      cells.push_back(has_plain ? fixed(100 * gained, 1) + " %" : "-");
    }
    json.push_back(std::move(row));
    table.add(std::move(cells));
  }
  report.add_json("levels", json);
  report.add_text("\nparts for ranks\n" + table.text());
}

}  // namespace csrkit
