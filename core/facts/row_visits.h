// In which order workers visit the rows of A, and so read rows of B.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace csrkit {

/// Which worker reads which rows of A, and whose cache is simulated. Every nonzero of A is one read
/// of the row of B that its column names, in the order of storage.
struct ReadOrder {
  int workers = 1;
  /// 0: each worker has one contiguous piece of equal nonzeros. Else rows are dealt to the workers
  /// in turn, so many at a time.
  Index rows_per_turn = 0;
  /// False: one cache for all workers, which read in step, 64 nonzeros a turn.
  bool has_private_caches = false;
};

/// Rows that are visited one after the other, as places in the order of visits.
struct Visit {
  Index first, last;
};

/// The visits of each worker, in order; of all workers as one list if they share a cache.
/// `reads_before[p]` counts the nonzeros of the rows at places before p, of all rows in the end.
std::vector<std::vector<Visit>> visits_of(const std::vector<Offset>& reads_before,
                                          const ReadOrder& order);

}  // namespace csrkit
