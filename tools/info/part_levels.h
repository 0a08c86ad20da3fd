// What tools say about parts for ranks.
#pragma once

#include <vector>

#include "core/matrix/row_parts.h"
#include "tools/cli/json.h"
#include "tools/cli/report.h"

namespace csrkit {

/// A level in a few numbers.
struct LevelFacts {
  Index parts = 0;
  double imbalance = 0;      // entries of the part with most by the mean; 0 without entries
  double row_imbalance = 0;  // rows of the part with most by the mean
  Offset cut_entries = 0;    // in columns of other parts
  Offset halo_cols = 0;      // of all parts: rows of B that move in a product
  Index largest_halo = 0;    // what the part that receives most receives
  Offset largest_send = 0;   // what the part that sends most sends
  Index most_neighbours = 0;
  Offset sums = 0;  // of split rows: rows of C that move in a product
};
LevelFacts level_facts(const PartLevel& level);

/// Beside the facts of each level, if they are given, those of plain blocks in equally many parts.
Json to_json(const LevelFacts& facts);
void add_levels(Report& report, const std::vector<LevelFacts>& levels, Offset nnz,
                const std::vector<LevelFacts>& plain = {});

}  // namespace csrkit
