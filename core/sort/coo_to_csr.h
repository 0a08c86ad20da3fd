// Coordinates in any order become a CSR matrix: sorted, unique, counted.
#pragma once

#include "core/csr_matrix.h"

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

/// What to do with several entries at one place: add them up in input order (kind none: one entry
/// stays), keep the first in input order, or refuse.
enum class Duplicates : std::uint8_t { sum, first, error };
Duplicates parse_duplicates(const std::string& name);

struct CooToCsrReport {
  Offset duplicates = 0;    // entries that were merged into an earlier one
  Offset out_of_order = 0;  // entries that came before (row, col) of their predecessor in the input
};

/// Takes the coordinates (their memory is freed on the way). Parallel and stable: the same bits for
/// any thread count. Throws InputError on a duplicate if told so, naming the place by `where`.
CsrMatrix coo_to_csr(CooMatrix coo, Duplicates duplicates, const std::string& where,
                     CooToCsrReport* report = nullptr);

}  // namespace csrkit
