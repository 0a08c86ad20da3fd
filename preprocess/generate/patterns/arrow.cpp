// arrow: a tridiagonal matrix with one long row and column in its middle, the hub. A * A has as
// many long rows as the hub has entries, which ruins kernels that spill long rows to slow memory.
#include <cstdlib>

#include "preprocess/generate/common/grid.h"

namespace csrkit {

std::vector<Parameter> arrow_parameters() {
  using namespace parameter;
  return {
      integer("n", "", 0, kMaxIndex, "rows and columns"),
      integer("hub", "auto", 0, kMaxIndex, "places of the hub's row, evenly spread; auto = n / 2"),
  };
}

CsrMatrix generate_arrow(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  request.require_random_values();
  const Index n = given.index("n");
  const Index hub = given.is_set("hub") ? given.index("hub") : n / 2;
  if (hub > n) given.refuse("hub", "at most n");
  const Index middle = n / 2;
  // Place k of the hub is column k * n / hub; a column is a place if it is hit by some k.
  const auto is_place = [&](Index col) {
    if (hub == 0) return false;
    const Offset k = (Offset{col} * hub + n - 1) / n;
    return k < hub && k * n / hub == col;
  };
  CsrPattern pattern = pattern_of(n, [&](Index row, auto&& add) {
    if (row == middle) {
      for (Index col = 0; col < n; ++col) {
        if (std::abs(col - row) <= 1 || is_place(col)) add(col);
      }
      return;
    }
    const bool has_hub = std::abs(row - middle) > 1 && is_place(row);
    if (has_hub && middle < row) add(middle);
    for (Index col = std::max(0, row - 1); col <= std::min(n - 1, row + 1); ++col) add(col);
    if (has_hub && middle > row) add(middle);
  });
  return finish_matrix(n, n, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::symmetric_dominant);
}

}  // namespace csrkit
