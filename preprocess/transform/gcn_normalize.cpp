#include <cmath>

#include "preprocess/transform/pattern.h"
#include "preprocess/transform/transform.h"

namespace csrkit {

CsrMatrix gcn_normalize(const CsrMatrix& matrix) {
  transform::require_square(matrix, "gcn-normalize");
  const ValueKind kind =
      matrix.value_kind() == ValueKind::none ? ValueKind::f32 : matrix.value_kind();
  ValueArray values(kind, matrix.nnz());
  // sqrt(d_i) * sqrt(d_j) neither overflows nor depends on the order of i and j, so a symmetric
  // matrix stays symmetric to the last bit.
  Buffer<double> root(matrix.rows());
  matrix.visit([&](auto a) {
#pragma omp parallel for schedule(dynamic, 1024)
    for (Index row = 0; row < a.rows; ++row) {
      double sum = 0;
      for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
        sum += std::fabs(a.template value_as<double>(at));
      }
      root[row] = std::sqrt(sum);
    }
    with_value_type(kind, [&](auto tag) {
      using Stored = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<Stored, ImplicitOne>) {
        Stored* out = values.as<Stored>();
#pragma omp parallel for schedule(dynamic, 1024)
        for (Index row = 0; row < a.rows; ++row) {
          for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
            const double value = a.template value_as<double>(at);
            const double scale = root[row] * root[a.col_indices[at]];
            // Multiplying by 0 instead of storing 0 keeps a NaN visible.
            out[at] = store_as<Stored>(scale == 0 ? value * 0.0 : value / scale);
          }
        }
      }
    });
  });
  return transform::with_values(matrix, std::move(values));
}

}  // namespace csrkit
