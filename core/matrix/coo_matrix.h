// A matrix as a list of coordinates: what files of entries hold, and what coo_to_csr takes.
#pragma once

#include "core/base/buffer.h"
#include "core/base/value_kind.h"

namespace csrkit {

/// Entries in any order, duplicates allowed. Rows and columns must be in range: whoever makes one
/// checks, because only there a file and line can be named.
struct CooMatrix {
  Index rows = 0;
  Index cols = 0;
  Buffer<Index> row_indices;
  Buffer<Index> col_indices;
  ValueArray values;  // kind none: no storage
  Offset nnz() const { return row_indices.size(); }
};

}  // namespace csrkit
