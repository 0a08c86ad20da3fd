// dense: every entry is there.
#include "preprocess/generate/grid.h"

namespace csrkit {

std::vector<GenerateParameter> dense_parameters() {
  return {{"rows", "", "rows"}, {"cols", "auto", "columns; auto = as many as rows"}};
}

CsrMatrix generate_dense(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const Index rows = given.index("rows", 0);
  const Index cols = given.text("cols") == "auto" ? rows : given.index("cols", 0);
  CsrPattern pattern = pattern_of(rows, [&](Index, auto&& add) {
    for (Index col = 0; col < cols; ++col) add(col);
  });
  return finish_matrix(rows, cols, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::independent);
}

}  // namespace csrkit
