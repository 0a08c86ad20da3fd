// A matrix as a list of coordinates: what files of entries hold, and what coo_to_csr takes.
#pragma once

#include "core/base/buffer.h"
#include "core/base/value_kind.h"

namespace csrkit {

/// Entries in any order, duplicates allowed. Rows and columns must be in range: the code that makes
/// one checks that, because only it can name a file and a line.
struct CooMatrix {
  Index rows = 0;
  Index cols = 0;
  Buffer<Index> row_indices;
  Buffer<Index> col_indices;
  ValueArray values;  // kind none: no storage
  Offset nnz() const { return row_indices.size(); }
};

}  // namespace csrkit
