// Coordinates in any order become a CSR matrix: sorted, unique, counted.
#pragma once

#include "core/matrix/coo_matrix.h"
#include "core/matrix/csr_matrix.h"
#include "core/matrix/sort/merge_repeats.h"

namespace csrkit {

struct CooToCsrReport {
  Offset duplicates = 0;    // entries that were merged into an earlier one
  Offset out_of_order = 0;  // entries that came before (row, col) of their predecessor in the input
};

/// Takes the coordinates (their memory is freed on the way). Parallel and stable: the same bits for
/// any thread count. Throws InputError on a duplicate if told so, naming the place by `where`.
CsrMatrix coo_to_csr(CooMatrix coo, Duplicates duplicates, const std::string& where,
                     CooToCsrReport* report = nullptr);

}  // namespace csrkit
