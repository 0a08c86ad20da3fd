// Small systems for tests of solvers, with everything that goes wrong in larger ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/contract/solve.h"

namespace csrkit {

/// The matrix with value(i, j) where that is not 0.
inline CsrMatrix matrix_of(Index rows, const std::function<double(Index, Index)>& value,
                           ValueKind kind = ValueKind::f64) {
  std::vector<Offset> offsets{0};
  std::vector<Index> cols;
  std::vector<double> values;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < rows; ++j) {
      if (value(i, j) == 0) continue;
      cols.push_back(j);
      values.push_back(value(i, j));
    }
    offsets.push_back(static_cast<Offset>(cols.size()));
  }
  CsrMatrix wide(
      rows, rows, Buffer<Offset>::copy_of(offsets.data(), rows + 1),
      Buffer<Index>::copy_of(cols.data(), static_cast<Offset>(cols.size())),
      ValueArray::from(Buffer<double>::copy_of(values.data(), static_cast<Offset>(values.size()))));
  return convert_values(wide, kind);
}

/// The 5-point Laplace operator on an nx x ny grid, made row by row.
inline CsrMatrix grid_laplacian(Index nx, Index ny, ValueKind kind = ValueKind::f64) {
  const Index rows = nx * ny;
  std::vector<Offset> offsets{0};
  std::vector<Index> cols;
  std::vector<double> values;
  for (Index i = 0; i < rows; ++i) {
    const auto add = [&](bool is_there, Index j, double value) {
      if (!is_there) return;
      cols.push_back(j);
      values.push_back(value);
    };
    add(i >= nx, i - nx, -1);
    add(i % nx > 0, i - 1, -1);
    add(true, i, 4);
    add(i % nx < nx - 1, i + 1, -1);
    add(i + nx < rows, i + nx, -1);
    offsets.push_back(static_cast<Offset>(cols.size()));
  }
  CsrMatrix wide(
      rows, rows, Buffer<Offset>::copy_of(offsets.data(), rows + 1),
      Buffer<Index>::copy_of(cols.data(), static_cast<Offset>(cols.size())),
      ValueArray::from(Buffer<double>::copy_of(values.data(), static_cast<Offset>(values.size()))));
  return convert_values(wide, kind);
}

/// As grid_laplacian of one dimension, with rows scaled from 1 to `ratio`: hard without Jacobi.
inline CsrMatrix badly_scaled(Index rows, double ratio) {
  const auto scale = [=](Index i) {
    return std::pow(ratio, static_cast<double>((i * 7) % rows) / std::max(1, rows - 1) / 2);
  };
  return matrix_of(rows, [&](Index i, Index j) {
    if (i == j) return 2.5 * scale(i) * scale(i);
    return i - j == 1 || j - i == 1 ? -scale(i) * scale(j) : 0.0;
  });
}

inline std::shared_ptr<const DenseMatrix> densified(const CsrMatrix& a, ValueKind kind) {
  auto dense = std::make_shared<DenseMatrix>(a.rows(), a.cols(), kind);
  const DenseView out = dense->view();
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) out.set(i, j, 0);
    a.visit([&](const auto& view) {
      for (Offset at = view.row_offsets[i]; at < view.row_offsets[i + 1]; ++at) {
        out.set(i, view.col_indices[at], view.template value_as<double>(at));
      }
    });
  }
  return dense;
}

/// b = A x for an x that is random by `seed`.
inline DenseMatrix right_hand_sides(const SolveProblem& problem, const DenseMatrix& x) {
  DenseMatrix b(x.rows(), x.cols(), problem.vector_kind());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      double sum = 0;
      if (problem.dense) {
        const ConstDenseView a = std::as_const(*problem.dense).view();
        for (Index k = 0; k < a.cols; ++k) sum += a.at(i, k) * x.view().at(k, j);
      } else {
        problem.a.visit([&](const auto& a) {
          for (Offset at = a.row_offsets[i]; at < a.row_offsets[i + 1]; ++at) {
            sum += a.template value_as<double>(at) * x.view().at(a.col_indices[at], j);
          }
        });
      }
      b.view().set(i, j, sum);
    }
  }
  return b;
}

}  // namespace csrkit
