// The memory in which rows of C are made, which can be kept for the next product.
#pragma once

#include <utility>

#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

/// Rows [first_row, last_row) of C. There may be more room than entries.
struct OutputBlock {
  Index first_row = 0;
  Index last_row = 0;
  Buffer<Offset> row_offsets;
  Buffer<Index> col_indices;
  ValueArray values;

  /// From the entries of every row of C.
  void set_offsets(const Index* row_nnz, int threads);

  /// The rows as a matrix with so many entries, which takes the memory.
  CsrMatrix release(Index cols, Offset nnz);
};

/// Keeps the memory of one block of C, so that a repeated product need not map its pages again.
class OutputMemory {
 public:
  /// Room for `nnz` entries; row offsets are not set. What was kept is used if it has just that
  /// size, and given back if not.
  OutputBlock take(Index first_row, Index last_row, Offset nnz, ValueKind kind);

  /// What was kept, whatever its size.
  OutputBlock take_kept() { return std::exchange(kept_, OutputBlock()); }

  /// Keeps the memory of entries for the next product. Offsets are freed, because the analysis
  /// needs their memory.
  void keep(OutputBlock block);
  void give_back() { kept_ = OutputBlock(); }

 private:
  OutputBlock kept_;
};

}  // namespace csrkit::cpu
