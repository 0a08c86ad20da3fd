// What csr-partition does with the matrix that it has read.
#pragma once

#include "tools/info/part_levels.h"
#include "tools/partition/options.h"

namespace csrkit {

struct PartitionRun {
  CsrFile file;  // in the order of its parts, with their sections
  std::vector<LevelFacts> levels;
  std::vector<LevelFacts> plain;  // contiguous blocks of the rows as they were, for comparison
  Offset long_rows = 0;           // whole, and longer than a part's share in the finest level
  double order_seconds = 0;       // until every row had a part
  double list_seconds = 0;        // from then until the lists were made
};

/// The result carries a step of provenance.
PartitionRun partition_file(const PartitionToolOptions& options, const CsrFile& before);
void report_partition(const PartitionToolOptions& options, const PartitionRun& run);

}  // namespace csrkit
