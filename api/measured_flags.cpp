#include "api/measured_flags.h"

#include "core/facts/matrix_stats.h"

namespace csrkit {

CsrFlags measured_flags(const CsrMatrix& matrix) {
  CsrFlags flags;
  if (matrix.rows() != matrix.cols()) return flags;
  const SymmetryProfile symmetry = symmetry_profile(matrix);
  flags.is_pattern_symmetric = symmetry.is_pattern_symmetric;
  flags.is_value_symmetric = symmetry.is_value_symmetric;
  return flags;
}

}  // namespace csrkit
