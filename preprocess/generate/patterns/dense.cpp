// dense: every entry is there.
#include "preprocess/generate/common/grid.h"

namespace csrkit {

std::vector<Parameter> dense_parameters() {
  using namespace parameter;
  return {integer("rows", "", 0, kMaxIndex, "rows"),
          integer("cols", "auto", 0, kMaxIndex, "columns; auto = as many as rows")};
}

CsrMatrix generate_dense(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  request.require_random_values();
  const Index rows = given.index("rows");
  const Index cols = given.is_set("cols") ? given.index("cols") : rows;
  require_room(rows, Offset{rows} * cols,
               static_cast<int>(sizeof(Index)) + size_of(request.value_kind));
  CsrPattern pattern = pattern_of(rows, [&](Index, auto&& add) {
    for (Index col = 0; col < cols; ++col) add(col);
  });
  return finish_matrix(rows, cols, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::independent);
}

}  // namespace csrkit
