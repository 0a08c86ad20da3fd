#include "cpu/spgemm/row_work.h"

#include <algorithm>

#include "core/base/team.h"
#include "cpu/spgemm/row_products.h"

namespace csrkit::cpu {

RowWork find_row_work(const SpgemmProblem& problem, const CsrMatrix& op_b, int threads,
                      Offset* row_products) {
  const CsrMatrix& a = problem.a;
  const Offset cols = problem.output_cols();
  const Offset* const offsets = a.row_offsets();
  const Offset* const lengths = op_b.row_offsets();
  const Offset* const mask = problem.mask ? problem.mask->row_offsets() : nullptr;
  Offset products = 0, bound = 0, most_sources = 0, most_made = 0, most_hashed = 0;
  const int team = team_for(a.rows() + a.nnz(), threads);
  // Small enough for a small product to have some for everybody.
  const int chunk = std::clamp(a.rows() / (4 * team), 64, 1024);
#pragma omp parallel for schedule(dynamic, chunk) num_threads(team) \
    reduction(+ : products, bound)                                  \
    reduction(max                                                   \
              : most_sources, most_made, most_hashed)
  for (Index row = 0; row < a.rows(); ++row) {
    Offset here = 0;
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
      const Index k = a.col_indices()[at];
      here += lengths[k + 1] - lengths[k];
    }
    row_products[row] = here;
    products += here;
    Offset made = std::min(here, cols);
    if (mask != nullptr) {
      const Offset allowed = mask[row + 1] - mask[row];
      bound += std::min(made, allowed);
      made = allowed;
      most_hashed = std::max(most_hashed, allowed);
    } else {
      bound += made;
      // Rows are hashed if their width, at most `cols`, is large for their products.
      if (kFlagsPerCostlyProduct * here < cols) most_hashed = std::max(most_hashed, here);
    }
    most_sources = std::max(most_sources, offsets[row + 1] - offsets[row]);
    most_made = std::max(most_made, made);
  }
  return {products, bound, most_sources, most_made, most_hashed};
}

}  // namespace csrkit::cpu
