// poisson: the standard stencils of the Laplace operator on a grid, with constant, anisotropic or
// random coefficients. Outside of the grid the solution is 0, so the matrix is positive definite.
#include <cmath>

#include "core/base/hash.h"
#include "preprocess/generate/common/grid.h"

namespace csrkit {

namespace {

enum Stream : std::uint64_t { kCoefficients = 601 };

/// Random numbers of the points, from 1 / sqrt(contrast) to sqrt(contrast), evenly in their
/// logarithm.
class Coefficients {
 public:
  Coefficients(double contrast, std::uint64_t seed)
      : exponent_(std::log(contrast)), salt_(random_word(seed, kCoefficients)) {}

  double of(Index point) const {
    return std::exp(exponent_ *
                    (unit_of(random_word(salt_, static_cast<std::uint64_t>(point))) - 0.5));
  }
  /// Of what lies between two points: the harmonic mean, as finite volumes have it.
  double between(Index i, Index j) const {
    if (exponent_ == 0) return 1;
    return 2 * of(i) * of(j) / (of(i) + of(j));
  }

 private:
  double exponent_;
  std::uint64_t salt_;
};

/// The stencil and the grid that it is laid on.
struct Stencil {
  Grid grid;
  bool is_solid;   // of three dimensions
  int most_faces;  // star stencils hold the face neighbours alone, box stencils the corners too
  double weight_y, weight_z;

  double weight_between(Index row, Index col) const {
    const bool in_y = row / grid.nx % grid.ny != col / grid.nx % grid.ny;
    const bool in_z = row / grid.nx / grid.ny != col / grid.nx / grid.ny;
    return (in_y ? weight_y : 1) * (in_z ? weight_z : 1);
  }

  /// The sum over all neighbours of a point inside of the grid.
  double whole_weight() const {
    const double in_z = is_solid ? weight_z : 0;
    return most_faces == 1 ? 2 + 2 * weight_y + 2 * in_z
                           : 3 * (1 + 2 * weight_y) * (1 + 2 * in_z) - 1;
  }
};

Stencil stencil_of(const Parameters& given) {
  const int kind = given.choice("stencil");
  const bool is_solid = kind >= 2;
  const Index nx = given.index("nx");
  const Index ny = given.is_set("ny") ? given.index("ny") : nx;
  const Index nz = given.is_set("nz") ? given.index("nz") : is_solid ? nx : 1;
  if (!is_solid && nz != 1) given.refuse("nz", "1 for a stencil of two dimensions");
  const double weight_y = given.number("weight-y"), weight_z = given.number("weight-z");
  if (!is_solid && weight_z != 1) {
    given.refuse("weight-z", "1 for a stencil of two dimensions");
  }
  return {Grid::from(nx, ny, nz, 1, given), is_solid, kind == 0 || kind == 2 ? 1 : 3, weight_y,
          weight_z};
}

/// What a point near the boundary loses outside stays on its diagonal.
template <class Value>
void write_row(const Stencil& stencil, const Coefficients& coefficients, const CsrPattern& pattern,
               Index row, Value* values) {
  double outside = stencil.whole_weight(), diagonal = 0;
  Offset at_diagonal = 0;
  for (Offset at = pattern.row_offsets[row]; at < pattern.row_offsets[row + 1]; ++at) {
    const Index col = pattern.col_indices[at];
    if (col == row) {
      at_diagonal = at;
      continue;
    }
    const double weight = stencil.weight_between(row, col);
    const double coupling = weight * coefficients.between(row, col);
    values[at] = store_as<Value>(-coupling);
    outside -= weight;
    diagonal += coupling;
  }
  values[at_diagonal] = store_as<Value>(diagonal + outside * coefficients.of(row));
}

}  // namespace

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
      number("weight-y", "1", 1e-6, 1e6,
             "of couplings in the direction of y, those of x being 1; a diagonal one has the "
             "product of its directions"),
      number("weight-z", "1", 1e-6, 1e6, "of couplings in the direction of z"),
      number("contrast", "1", 1, 1e12,
             "largest over smallest of the coefficients that points draw; a coupling has the "
             "harmonic mean of its two; 1 = constant"),
  };
}

CsrMatrix generate_poisson(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const Stencil stencil = stencil_of(given);
  request.require_random(given.number("contrast") != 1 && request.value_kind != ValueKind::none);

  const auto n = static_cast<Index>(stencil.grid.points());
  CsrPattern pattern = pattern_of(n, [&](Index row, auto&& add) {
    stencil.grid.for_each_neighbour(row, [&](Index col, int faces) {
      if (faces <= stencil.most_faces) add(col);
    });
  });
  const Coefficients coefficients(given.number("contrast"), request.seed);
  require_room(0, pattern.col_indices.size(), size_of(request.value_kind));
  ValueArray values(request.value_kind, pattern.col_indices.size());
  with_value_type(request.value_kind, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<Value, ImplicitOne>) {
      Value* const out = values.as<Value>();
#pragma omp parallel for schedule(static)
      for (Index row = 0; row < n; ++row) write_row(stencil, coefficients, pattern, row, out);
    }
  });
  return CsrMatrix(n, n, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                   std::move(values));
}

}  // namespace csrkit
