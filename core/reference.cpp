#include "core/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace csrkit {

void reference_spmm_row(const CsrMatrix& op_a, ConstDenseView b, Semiring semiring, double alpha,
                        double beta, const ConstDenseView* c, Index row, ReferenceEntry* out) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double empty_sum = semiring == Semiring::min_plus    ? infinity
                           : semiring == Semiring::max_times ? -infinity
                                                             : 0;
  for (Index j = 0; j < b.cols; ++j) out[j] = {empty_sum, 0};
  for (Offset at = op_a.row_offsets()[row]; at < op_a.row_offsets()[row + 1]; ++at) {
    const double x = op_a.visit([&](auto view) { return view.template value_as<double>(at); });
    for (Index j = 0; j < b.cols; ++j) {
      const double y = b.at(op_a.col_indices()[at], j);
      double& sum = out[j].value;
      double& magnitude = out[j].magnitude;
      switch (semiring) {
        case Semiring::plus_times:
          sum += x * y;
          magnitude += std::fabs(x * y);
          break;
        case Semiring::min_plus:
          sum = std::isnan(x + y) || std::isnan(sum) ? sum + x + y : std::min(sum, x + y);
          magnitude = std::max(magnitude, std::fabs(x) + std::fabs(y));
          break;
        case Semiring::max_times:
          sum = std::isnan(x * y) || std::isnan(sum) ? sum + x * y : std::max(sum, x * y);
          magnitude = std::max(magnitude, std::fabs(x * y));
          break;
        case Semiring::or_and: sum = sum != 0 || (x != 0 && y != 0) ? 1 : 0; break;
      }
    }
  }
  if (semiring != Semiring::plus_times) return;
  for (Index j = 0; j < b.cols; ++j) {
    out[j].value *= alpha;
    out[j].magnitude *= std::fabs(alpha);
    if (beta != 0) {
      out[j].value += beta * c->at(row, j);
      out[j].magnitude += std::fabs(beta * c->at(row, j));
    }
  }
}

}  // namespace csrkit
