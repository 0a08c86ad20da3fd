// Dense operands of the tools: from a .npy file or from a seed, and back to a .npy file.
#pragma once

#include <optional>
#include <string>

#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// The matrix with every element converted to `kind` (one rounding each).
DenseMatrix convert_dense(const DenseMatrix& from, ValueKind kind);

/// B for a product. From `path` if that is not "": its shape must be rows x cols, and its kind
/// `kind` unless `may_convert`. Otherwise random, a pure function of (seed, row, column).
DenseMatrix make_dense_input(const std::string& path, Index rows, Index cols, ValueKind kind,
                             bool may_convert, std::uint64_t seed);

}  // namespace csrkit
