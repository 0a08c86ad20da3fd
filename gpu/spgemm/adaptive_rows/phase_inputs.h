// What every phase of one product goes by.
#pragma once

#include <algorithm>
#include <limits>

#include "gpu/spgemm/adaptive_rows/rows_work.h"
#include "gpu/spgemm/adaptive_rows/side_streams.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

struct PhaseInputs {
  const SpgemmOperands& op;
  Semiring semiring;
  const BinRules& rules;  // of the plan; they may change with the profile
  SideStreams& side_streams;
  cudaStream_t stream;

  /// Whether short rows are launched before the host knows how many there are. It saves the host's
  /// latency, which counts in small products.
  bool is_early() const { return op.a.nnz <= rules.most_early; }

  /// The number of rows in sort_16 from which a thread makes each; `are_made`: with the short rows.
  Offset fewest_tiny(bool are_made) const {
    const bool can_be = !are_made && op.b.row_offsets.narrow != nullptr;
    return can_be ? rules.fewest_tiny : std::numeric_limits<Offset>::max();
  }
};

/// Blocks of a launch of short rows before the host knows how many there are.
inline unsigned early_blocks(const ShortRows& rows) {
  constexpr Offset kMost = 2048;
  return static_cast<unsigned>(std::min(rows.most_blocks(), kMost));
}

inline TinyRows tiny_rows(const RowList& list, int bin, const BinTotals* totals) {
  return {list, totals->placed_first + bin};
}

}  // namespace csrkit::gpu
