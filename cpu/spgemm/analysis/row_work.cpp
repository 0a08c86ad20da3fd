#include "cpu/spgemm/analysis/row_work.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/spgemm/rows/row_products.h"

namespace csrkit::cpu {

namespace {

/// What a thread has seen.
struct alignas(64) Seen {
  RowWork work;
};

}  // namespace

RowWork find_row_work(const SpgemmProblem& problem, const CsrMatrix& op_b, int threads,
                      Offset* cost_sums) {
  const CsrMatrix& a = problem.a;
  const Offset cols = problem.output_cols();
  const Offset* const offsets = a.row_offsets();
  const Offset* const lengths = op_b.row_offsets();
  const Offset* const mask = problem.mask ? problem.mask->row_offsets() : nullptr;
  std::vector<Seen> seen(static_cast<std::size_t>(threads));
  const auto find_products = [&](int thread, Index begin, Index end) {
    RowWork found;
    for (Index row = begin; row < end; ++row) {
      const Offset allowed = mask != nullptr ? mask[row + 1] - mask[row] : 0;
      Offset here = 0, cost = 0;
      for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
        const Index k = a.col_indices()[at];
        const Offset entries = lengths[k + 1] - lengths[k];
        here += entries;
        if (mask != nullptr) cost += masked_cost(allowed, entries);
      }
      cost_sums[row] = mask != nullptr ? cost : here;
      found.products += here;
      Offset made = std::min(here, cols);
      if (mask != nullptr) {
        found.nnz_bound += std::min(made, allowed);
        made = allowed;
        found.most_hashed = std::max(found.most_hashed, allowed);
      } else {
        found.nnz_bound += made;
        // Rows are hashed if their width, at most `cols`, is large for their products.
        if (kFlagsPerCostlyProduct * here < cols) {
          found.most_hashed = std::max(found.most_hashed, here);
        }
      }
      found.most_products = std::max(found.most_products, here);
      found.most_sources = std::max(found.most_sources, offsets[row + 1] - offsets[row]);
      found.most_made = std::max(found.most_made, made);
    }
    seen[static_cast<std::size_t>(thread)].work = std::move(found);
  };
  RowWork all;
  all.pieces = RowPieces(a.rows(), offsets, cost_sums, threads, find_products);
  for (const Seen& of : seen) {
    all.products += of.work.products;
    all.nnz_bound += of.work.nnz_bound;
    all.most_products = std::max(all.most_products, of.work.most_products);
    all.most_sources = std::max(all.most_sources, of.work.most_sources);
    all.most_made = std::max(all.most_made, of.work.most_made);
    all.most_hashed = std::max(all.most_hashed, of.work.most_hashed);
  }
  return all;
}

}  // namespace csrkit::cpu
