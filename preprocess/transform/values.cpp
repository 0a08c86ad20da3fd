#include <cmath>

#include "core/base/hash.h"
#include "preprocess/transform/pattern.h"
#include "preprocess/transform/transform.h"

namespace csrkit {

namespace {

/// The random 24-bit value, moved down to the grid that `kind` holds exactly all over [-1, 1):
/// rounding to nearest could reach 1.
double on_grid_of(ValueKind kind, double value) {
  const double steps = kind == ValueKind::f16 ? 0x1p11 : kind == ValueKind::bf16 ? 0x1p8 : 0x1p23;
  return std::floor(value * steps) / steps;
}

}  // namespace

CsrMatrix randomize_values(const CsrMatrix& matrix, std::uint64_t seed) {
  const ValueKind kind =
      matrix.value_kind() == ValueKind::none ? ValueKind::f32 : matrix.value_kind();
  ValueArray values(kind, matrix.nnz());
  with_value_type(kind, [&](auto tag) {
    using Stored = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<Stored, ImplicitOne>) {
      Stored* out = values.as<Stored>();
#pragma omp parallel for schedule(dynamic, 1024)
      for (Index row = 0; row < matrix.rows(); ++row) {
        for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
          const double value = random_value(seed, static_cast<std::uint64_t>(row),
                                            static_cast<std::uint64_t>(matrix.col_indices()[at]));
          out[at] = store_as<Stored>(on_grid_of(kind, value));
        }
      }
    }
  });
  return transform::with_values(matrix, std::move(values));
}

CsrMatrix set_ones(const CsrMatrix& matrix) {
  if (matrix.value_kind() == ValueKind::none) return matrix;
  ValueArray values(matrix.value_kind(), matrix.nnz());
  with_value_type(matrix.value_kind(), [&](auto tag) {
    using Stored = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<Stored, ImplicitOne>) {
      const Stored one = store_as<Stored>(1.0);
      Stored* out = values.as<Stored>();
#pragma omp parallel for schedule(static)
      for (Offset at = 0; at < matrix.nnz(); ++at) out[at] = one;
    }
  });
  return transform::with_values(matrix, std::move(values));
}

}  // namespace csrkit
