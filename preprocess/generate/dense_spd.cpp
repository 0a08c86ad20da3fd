#include "preprocess/generate/dense_spd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "preprocess/generate/common/csr_builder.h"

namespace csrkit {

DenseMatrix generate_dense_spd(Index rows, double condition, ValueKind kind, std::uint64_t seed) {
  if (!(condition >= 1)) throw UsageError("a condition number is 1 or more");
  const auto size = static_cast<std::size_t>(rows);
  // v of length 1, d the eigenvalues, w = D v, c = v'D v. Then
  // a_ij = d_i [i = j] - 2 (v_i w_j + w_i v_j) + 4 c v_i v_j.
  std::vector<double> v(size), w(size), d(size);
  DenseMatrix direction(rows, 1, ValueKind::f64);
  fill_random(direction.view(), seed);
  const Buffer<Index> place = random_order(rows, seed + 1);
  double squares = 0;
  for (std::size_t i = 0; i < size; ++i) {
    v[i] = direction.view().as<double>()[i];
    squares += v[i] * v[i];
    const double share = rows == 1 ? 0
                                   : static_cast<double>(place[static_cast<Offset>(i)]) /
                                         (static_cast<double>(rows) - 1);
    d[i] = std::pow(condition, -share);
  }
  double c = 0;
  for (std::size_t i = 0; i < size; ++i) {
    v[i] /= std::sqrt(squares);
    w[i] = d[i] * v[i];
    c += v[i] * w[i];
  }
  DenseMatrix a(rows, rows, kind);
  const DenseView out = a.view();
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < rows; ++j) {
      // The same formula on both sides of the diagonal, whatever a compiler fuses.
      const auto row = static_cast<std::size_t>(std::max(i, j));
      const auto col = static_cast<std::size_t>(std::min(i, j));
      const double mixed = v[row] * w[col] + w[row] * v[col];
      const double value = (i == j ? d[row] : 0) + (4 * c * (v[row] * v[col]) - 2 * mixed);
      if (kind == ValueKind::f32) {
        out.as<float>()[Offset{i} * rows + j] = static_cast<float>(value);
      } else {
        out.as<double>()[Offset{i} * rows + j] = value;
      }
    }
  }
  return a;
}

}  // namespace csrkit
