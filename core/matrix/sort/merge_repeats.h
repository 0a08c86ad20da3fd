// Several entries at one place become one, or an error that names the place.
#pragma once

#include <string>

#include "core/matrix/coo_matrix.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// What to do with several entries at one place: add them up in input order (kind none: one entry
/// stays), keep the first in input order, or refuse.
enum class Duplicates : std::uint8_t { sum, first, error };
Duplicates parse_duplicates(const std::string& name);

/// `coo` is sorted by row and column, `offsets` are its row offsets; its row indices are not read.
/// Sums go through double and are rounded once, whatever the kind. A sum of finite values that is
/// beyond the range of the kind is an InputError that begins with `where`.
CsrMatrix merge_repeats(const CooMatrix& coo, const Buffer<Offset>& offsets, Duplicates duplicates,
                        const std::string& where);

}  // namespace csrkit
