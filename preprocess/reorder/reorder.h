// Orderings: the new place of every row.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/parameters.h"
#include "core/file/csr_file.h"
#include "core/matrix/permutation.h"

namespace csrkit {

struct ReorderOptions {
  ParameterValues parameters;  // of that method, such as "parts" -> "8"
  std::uint64_t seed = 1;      // of random choices
  /// A forecast above this is refused before anything is allocated.
  std::uint64_t memory_limit_bytes = std::numeric_limits<std::uint64_t>::max();
  ProgressCallback progress;
};

struct Ordering {
  Permutation order;  // of the rows (and of the columns of a square matrix)
  /// In the new order; of metis-partition its parts, of community its groups.
  std::optional<Partition> partition = std::nullopt;
  /// Rectangular matrices, methods that order rows and columns together: the columns.
  std::optional<Permutation> col_order = std::nullopt;
};

/// Computes an ordering of the rows of `matrix` by the method of that name. Graph methods look at
/// the pattern of A + A^T without its diagonal, or, if the matrix is rectangular, at the bipartite
/// graph of its rows and columns. Throws UsageError (unknown method or parameter, bad value, wrong
/// shape), MemoryError (forecast above the limit or above what is there), Error (METIS failed, with
/// its reason).
Ordering make_ordering(const std::string& method, const CsrMatrix& matrix,
                       const ReorderOptions& options = {});

/// What a method can order.
enum class Takes : std::uint8_t {
  any,     // rows as rows: every shape
  graph,   // vertices of a graph: square as A + A^T, rectangular as the bipartite graph
  square,  // vertices of A + A^T; rectangular is refused
};

/// One row of preprocess/reorder/methods.inc. Costs are those of one core; see there.
struct ReorderMethod {
  const char* name;
  Takes takes;
  double ns_per_entry, ns_per_row;
  double bytes_per_entry, bytes_per_row;
  double capped_bytes_per_entry, cap_bytes_per_row;
  double bytes_per_further_col;     // of a matrix with more columns than rows
  double bytes_per_thread_and_row;  // of kMostOwnRooms threads after the first
  bool is_parallel;
  bool is_random;  // depends on the seed
  const char* summary;
  std::vector<Parameter> parameters = {};
  bool is_available = true;  // false: built without METIS

  bool needs_square() const { return takes == Takes::square; }
};
const std::vector<ReorderMethod>& reorder_methods();

/// Throws UsageError that lists the names.
const ReorderMethod& find_reorder_method(const std::string& name);

/// More threads than these have no room of their own for something per row.
inline constexpr int kMostOwnRooms = 16;

/// What `method` will cost on such a matrix, beside the matrix itself: a model for choosing, by the
/// numbers in methods.inc. --memory-limit is compared with `bytes`. If the pattern is not known to
/// be symmetric, A + A^T is taken to have twice the entries of A.
struct ReorderForecast {
  double seconds = 0;
  std::uint64_t bytes = 0;
};
ReorderForecast forecast_reorder(const ReorderMethod& method, Index rows, Index cols, Offset nnz,
                                 int threads, bool is_symmetric = false);

}  // namespace csrkit
