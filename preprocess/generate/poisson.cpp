// poisson: the standard stencils of the Laplace operator on a grid, with their usual values.
#include "preprocess/generate/grid.h"

namespace csrkit {

Grid Grid::from(Index nx, Index ny, Index nz, Index unknowns_per_point,
                const Parameters& parameters) {
  if (static_cast<double>(nx) * ny * nz * unknowns_per_point > static_cast<double>(kMaxIndex)) {
    parameters.refuse_all("the grid has more than 2147483647 unknowns");
  }
  return {nx, ny, nz};
}

std::vector<Parameter> poisson_parameters() {
  using namespace parameter;
  return {
      choice("stencil", "5", {"5", "9", "7", "27"},
             "5 or 9 points in two dimensions, 7 or 27 in three"),
      integer("nx", "", 1, kMaxIndex, "points in the direction of consecutive rows"),
      integer("ny", "auto", 1, kMaxIndex, "auto = nx"),
      integer("nz", "auto", 1, kMaxIndex, "auto = nx in three dimensions, 1 in two"),
  };
}

CsrMatrix generate_poisson(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const int kind = given.choice("stencil");
  const bool is_solid = kind >= 2;
  // Star stencils hold the face neighbours alone, box stencils the corners too.
  const int most_faces = kind == 0 || kind == 2 ? 1 : 3;
  const int points = kind == 0 ? 5 : kind == 1 ? 9 : kind == 2 ? 7 : 27;

  const Index nx = given.index("nx");
  const Index ny = given.is_set("ny") ? given.index("ny") : nx;
  const Index nz = given.is_set("nz") ? given.index("nz") : is_solid ? nx : 1;
  if (!is_solid && nz != 1) given.refuse("nz", "1 for a stencil of two dimensions");
  const Grid grid = Grid::from(nx, ny, nz, 1, given);

  const auto n = static_cast<Index>(grid.points());
  CsrPattern pattern = pattern_of(n, [&](Index row, auto&& add) {
    grid.for_each_neighbour(row, [&](Index col, int faces) {
      if (faces <= most_faces) add(col);
    });
  });
  ValueArray values(request.value_kind, pattern.col_indices.size());
  with_value_type(request.value_kind, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<Value, ImplicitOne>) {
      Value* out = values.as<Value>();
#pragma omp parallel for schedule(static)
      for (Index row = 0; row < n; ++row) {
        for (Offset at = pattern.row_offsets[row]; at < pattern.row_offsets[row + 1]; ++at) {
          out[at] = store_as<Value>(pattern.col_indices[at] == row ? points - 1 : -1);
        }
      }
    }
  });
  return CsrMatrix(n, n, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                   std::move(values));
}

}  // namespace csrkit
