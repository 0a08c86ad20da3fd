// Several entries at one place become one, or an error that names the place.
#pragma once

#include <string>

#include "core/sort/coo_to_csr.h"

namespace csrkit {

/// `coo` is sorted by row and column, `offsets` are its row offsets; its row indices are not read.
/// Sums go through double and are rounded once, whatever the kind.
CsrMatrix merge_repeats(const CooMatrix& coo, const Buffer<Offset>& offsets, Duplicates duplicates,
                        const std::string& where);

}  // namespace csrkit
