// proximity: points at random in a box, coupled where they are close, as in molecules.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/hash.h"
#include "preprocess/generate/common/grid.h"

namespace csrkit {

namespace {

enum Stream : std::uint64_t { kPoints = 701 };

struct Point {
  double at[3];
  Index cell;
};

}  // namespace

std::vector<Parameter> proximity_parameters() {
  using namespace parameter;
  return {
      integer("points", "", 0, kMaxIndex, "points, numbered along cells of the box"),
      number("width", "10", 1e-6, 1e6, "of the box"),
      number("depth", "10", 1e-6, 1e6, "of the box"),
      number("height", "10", 1e-6, 1e6, "of the box"),
      number("radius", "1", 1e-6, 1e6, "points at most this far apart are coupled"),
      integer("dof", "3", 1, 1024,
              "unknowns per point: every coupling is a dense block of dof x dof"),
  };
}

CsrMatrix generate_proximity(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const Index dof = given.index("dof"), count = given.index("points");
  if (count > kMaxIndex / dof) given.refuse("points", "at most 2147483647 / dof");
  const double size[3] = {given.number("width"), given.number("depth"), given.number("height")};
  const double radius = given.number("radius");

  // Cells at least as wide as the radius: all neighbours lie in the 27 around one's own. Never many
  // more cells than points.
  Index cells[3];
  for (int axis = 0; axis < 3; ++axis) {
    const double most = std::max(1.0, std::cbrt(static_cast<double>(count)) * 4);
    cells[axis] =
        static_cast<Index>(std::min(most, std::max(1.0, std::floor(size[axis] / radius))));
  }
  std::vector<Point> points(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    RandomStream random(random_word(request.seed, kPoints), static_cast<std::uint64_t>(i));
    Point& point = points[static_cast<std::size_t>(i)];
    point.cell = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double u = random.unit();
      point.at[axis] = u * size[axis];
      point.cell =
          point.cell * cells[axis] + std::min(cells[axis] - 1, static_cast<Index>(u * cells[axis]));
    }
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.cell < b.cell; });
  std::vector<Index> first(static_cast<std::size_t>(Offset{cells[0]} * cells[1] * cells[2]) + 1, 0);
  for (const Point& point : points) ++first[static_cast<std::size_t>(point.cell) + 1];
  for (std::size_t cell = 1; cell < first.size(); ++cell) first[cell] += first[cell - 1];

  const Grid grid{cells[2], cells[1], cells[0]};
  const Index rows = count * dof;
  CsrPattern pattern = pattern_of(rows, [&](Index row, auto&& add) {
    const Point& mine = points[static_cast<std::size_t>(row / dof)];
    grid.for_each_neighbour(mine.cell, [&](Index cell, int) {
      const auto at = static_cast<std::size_t>(cell);
      for (Index other = first[at]; other < first[at + 1]; ++other) {
        const Point& theirs = points[static_cast<std::size_t>(other)];
        double distance = 0;
        for (int axis = 0; axis < 3; ++axis) {
          distance += (mine.at[axis] - theirs.at[axis]) * (mine.at[axis] - theirs.at[axis]);
        }
        if (distance > radius * radius) continue;
        for (Index unknown = 0; unknown < dof; ++unknown) add(other * dof + unknown);
      }
    });
  });
  return finish_matrix(rows, rows, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::symmetric_dominant);
}

}  // namespace csrkit
