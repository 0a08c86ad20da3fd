// Operands of a sparse product whose rows and columns have moved (csr-reorder).
#pragma once

#include <optional>
#include <string>

#include "core/matrix/permutation.h"

namespace csrkit {

/// Warns if `size` rows or columns that meet, as `which` says, are in two orders. No order stands
/// for that of import.
void warn_of_other_order(const std::optional<Permutation>& one,
                         const std::optional<Permutation>& other, Index size,
                         const std::string& which);

}  // namespace csrkit
