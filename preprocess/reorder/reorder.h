// Orderings: which row comes where.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/csr_file.h"
#include "core/permutation.h"

namespace csrkit {

struct ReorderOptions {
  std::uint64_t seed = 1;
  bool descending = false;  // degree: longest rows first
  Index parts = 0;          // metis-partition: 0 = so that a part's rows of B fit 1 MiB of L2
  ProgressCallback progress;
};

struct Ordering {
  Permutation order;                   // of the rows (and of the columns, if applied to both)
  std::optional<Partition> partition;  // in the new order; metis-partition only
};

/// Computes an ordering of the rows of `matrix` by the method of that name. Graph methods look at
/// the pattern of A + A^T without its diagonal and so need a square matrix; the others take any
/// shape. Throws UsageError (unknown method, wrong shape), MemoryError, Error (METIS failed, with
/// its reason).
Ordering make_ordering(const std::string& method, const CsrMatrix& matrix,
                       const ReorderOptions& options = {});

/// One row of preprocess/reorder/methods.inc.
struct ReorderMethod {
  const char* name;
  bool needs_square;
  bool is_available;  // false: built without METIS
  const char* summary;
};
const std::vector<ReorderMethod>& reorder_methods();

}  // namespace csrkit
