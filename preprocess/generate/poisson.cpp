// poisson: the standard stencils of the Laplace operator on a grid, with their usual values.
#include "preprocess/generate/grid.h"

namespace csrkit {

Grid Grid::from(const Parameters& parameters, Index unknowns_per_point) {
  const Grid grid{parameters.index("nx", 1), parameters.index("ny", 1), parameters.index("nz", 1)};
  if (static_cast<double>(grid.nx) * grid.ny * grid.nz * unknowns_per_point >
      static_cast<double>(kMaxIndex)) {
    parameters.refuse_all("the grid has more than 2147483647 unknowns");
  }
  return grid;
}

std::vector<GenerateParameter> poisson_parameters() {
  return {
      {"stencil", "5", "5 or 9 points in two dimensions, 7 or 27 in three"},
      {"nx", "", "points in the direction of consecutive rows"},
      {"ny", "auto", "auto = nx"},
      {"nz", "auto", "auto = nx in three dimensions, 1 in two"},
  };
}

CsrMatrix generate_poisson(const PatternRequest& request) {
  const int kind = request.parameters.choice("stencil", {"5", "9", "7", "27"});
  const bool is_solid = kind >= 2;
  // Star stencils hold the face neighbours alone, box stencils the corners too.
  const int most_faces = kind == 0 || kind == 2 ? 1 : 3;
  const int points = kind == 0 ? 5 : kind == 1 ? 9 : kind == 2 ? 7 : 27;

  std::map<std::string, std::string> sizes;
  for (const char* name : {"stencil", "nx", "ny", "nz"})
    sizes[name] = request.parameters.text(name);
  if (sizes["ny"] == "auto") sizes["ny"] = sizes["nx"];
  if (sizes["nz"] == "auto") sizes["nz"] = is_solid ? sizes["nx"] : "1";
  const Parameters full("poisson", poisson_parameters(), sizes);
  const Grid grid = Grid::from(full, 1);
  if (!is_solid && grid.nz != 1) full.refuse("nz", "1 for a stencil of two dimensions");

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
