// What a sparse product takes on several ranks (csr-spgemm-dist): bytes that move, and how evenly
// the multiplications are shared out.
#pragma once

#include <cstdint>

#include "core/matrix/row_parts.h"
#include "tools/cli/options.h"

namespace csrkit {

/// Of one number of ranks.
struct SpgemmRanksForecast {
  Index ranks = 0;
  bool is_of_file = false;                 // the blocks are the parts of A.csr
  std::uint64_t moved_bytes = 0;           // exact: columns and values of rows of B, of all ranks
  std::uint64_t worst_received_bytes = 0;  // exact: by the rank that receives most
  std::uint64_t worst_sent_bytes = 0;      // exact: by the rank that sends most
  Offset products = 0, worst_products = 0;

  /// How many times as fast as one rank at most, where multiplications are all that takes time.
  double most_speed_up() const;
};

/// The blocks that csr-spgemm-dist makes where it uses no parts: rows of A with about as many
/// products each, rows of B with about as many entries each. `b_offsets`: b_rows + 1 row offsets.
PartBorders borders_by_products(const CsrMatrix& a, const Offset* b_offsets, Index b_rows,
                                Index ranks);

/// `entry_bytes`: of a column and a value of B. Takes 4 bytes for each column of A.
SpgemmRanksForecast forecast_spgemm_ranks(const CsrMatrix& a, const Offset* b_offsets,
                                          std::uint64_t entry_bytes, const PartBorders& borders);

/// --ranks with --operation spgemm: reads the options, counts, prints.
void report_spgemm_ranks(const Options& options);

}  // namespace csrkit
