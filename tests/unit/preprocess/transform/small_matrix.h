// Matrices written down as dense rows of text, and read back the same way.
#pragma once

#include <vector>

#include "core/matrix/csr_matrix.h"

namespace csrkit {

inline constexpr ValueKind kAllValueKinds[] = {ValueKind::none, ValueKind::f32, ValueKind::f64,
                                               ValueKind::f16, ValueKind::bf16};

/// Entries are the non-zero numbers.
inline CsrMatrix matrix_of(Index rows, Index cols, const std::vector<double>& dense,
                           ValueKind kind) {
  Offset nnz = 0;
  for (const double value : dense) nnz += value != 0;
  Buffer<Offset> offsets(Offset{rows} + 1);
  Buffer<Index> col_indices(nnz);
  Buffer<double> values(nnz);
  Offset at = 0;
  offsets[0] = 0;
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const double value = dense[static_cast<std::size_t>(row) * cols + col];
      if (value == 0) continue;
      col_indices[at] = col;
      values[at++] = value;
    }
    offsets[row + 1] = at;
  }
  return convert_values(CsrMatrix(rows, cols, std::move(offsets), std::move(col_indices),
                                  ValueArray::from(std::move(values))),
                        kind);
}

/// Positions without an entry are 0; a stored 0 shows as -0.
inline std::vector<double> dense_of(const CsrMatrix& matrix) {
  std::vector<double> dense(static_cast<std::size_t>(matrix.rows()) * matrix.cols());
  matrix.visit([&](auto a) {
    for (Index row = 0; row < a.rows; ++row) {
      for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
        const double value = a.template value_as<double>(at);
        dense[static_cast<std::size_t>(row) * a.cols + a.col_indices[at]] =
            value == 0 ? -0.0 : value;
      }
    }
  });
  return dense;
}

/// The dense picture with every non-zero replaced by 1, for kind none.
inline std::vector<double> as_kind(std::vector<double> dense, ValueKind kind) {
  for (double& value : dense) {
    if (kind == ValueKind::none && value != 0) value = 1;
  }
  return dense;
}

}  // namespace csrkit
