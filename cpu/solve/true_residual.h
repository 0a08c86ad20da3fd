// b - A x in float64, whatever the kinds: the residual that counts.
#pragma once

#include <cmath>
#include <vector>

#include "core/contract/solve.h"
#include "cpu/solve/vector_loops.h"

namespace csrkit::cpu {

/// Calls store(i, r) for every element i of the row-major array b - A x, and returns the norms of
/// its columns. X is the kind of b and x.
template <class X, class Store>
std::vector<double> true_residual(const SolveProblem& problem, const X* b, const X* x,
                                  VectorLoops& loops, const Store& store) {
  const Offset columns = loops.columns();
  const auto add_rows = [&](const auto& dot) {
    return loops.sums<1>([&](const auto& range, double* sum) {
      for (Index row = range.first; row < range.last; ++row) {
        const Offset i = range.offset(row);
        const double residual = static_cast<double>(b[i]) - dot(row, range.column);
        store(i, residual);
        sum[0] += residual * residual;
      }
    });
  };
  std::vector<double> norms;
  if (problem.dense) {
    const ConstDenseView a = std::as_const(*problem.dense).view();
    norms = with_value_type(a.kind, [&](auto tag) -> std::vector<double> {
      using Value = typename decltype(tag)::type;
      if constexpr (std::is_floating_point_v<Value>) {
        return add_rows([&](Index row, Index column) {
          const Value* const values = a.as<Value>() + row * a.leading_dim;
          double sum = 0;
          for (Index col = 0; col < a.cols; ++col) {
            sum +=
                static_cast<double>(values[col]) * static_cast<double>(x[col * columns + column]);
          }
          return sum;
        });
      } else {
        return {};
      }
    });
  } else {
    norms = problem.a.visit([&](const auto& a) {
      return add_rows([&](Index row, Index column) {
        double sum = 0;
        for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
          sum += a.template value_as<double>(at) *
                 static_cast<double>(x[a.col_indices[at] * columns + column]);
        }
        return sum;
      });
    });
  }
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

}  // namespace csrkit::cpu
