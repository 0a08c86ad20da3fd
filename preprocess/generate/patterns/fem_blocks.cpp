// fem-blocks: a mesh of hexahedra with several unknowns per node, as finite elements assemble it.
#include "core/base/hash.h"
#include "preprocess/generate/common/grid.h"

namespace csrkit {

namespace {
enum Stream : std::uint64_t { kCouplings = 501 };
}

std::vector<Parameter> fem_blocks_parameters() {
  using namespace parameter;
  return {
      integer("nx", "", 1, kMaxIndex, "nodes in the direction of consecutive rows"),
      integer("ny", "", 1, kMaxIndex, "nodes"),
      integer("nz", "", 1, kMaxIndex, "nodes"),
      integer("dof", "3", 1, 1024,
              "unknowns per node: every coupling of two nodes is a dense block of dof x dof"),
      number("drop", "0", 0, 1, "share of the couplings of different nodes that is left out"),
  };
}

CsrMatrix generate_fem_blocks(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const Index dof = given.index("dof");
  const Grid grid = Grid::from(given.index("nx"), given.index("ny"), given.index("nz"), dof, given);
  const double drop = given.number("drop");
  request.require_random(drop > 0 || request.value_kind != ValueKind::none);
  const std::uint64_t salt = random_word(request.seed, kCouplings);
  const auto is_dropped = [&](Index i, Index j) {
    return i != j && unit_of(random_word(salt, static_cast<std::uint64_t>(std::min(i, j)),
                                         static_cast<std::uint64_t>(std::max(i, j)))) < drop;
  };
  const auto rows = static_cast<Index>(grid.points() * dof);
  CsrPattern pattern = pattern_of(rows, [&](Index row, auto&& add) {
    const Index node = row / dof;
    grid.for_each_neighbour(node, [&](Index neighbour, int) {
      if (is_dropped(node, neighbour)) return;
      for (Index unknown = 0; unknown < dof; ++unknown) add(neighbour * dof + unknown);
    });
  });
  return finish_matrix(rows, rows, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::symmetric_dominant);
}

}  // namespace csrkit
