#include "preprocess/reorder/adjacency.h"

#include <cassert>
#include <utility>

namespace csrkit::reorder {

namespace {

// Below this many vertices, waking threads takes longer than the work.
constexpr Index kWorthThreads = 4096;

/// Calls `take(neighbour)` for the union of two ascending rows, in ascending order, without `self`.
template <class Take>
void merge_rows(const CsrMatrix& a, const CsrMatrix& b, Index self, Take&& take) {
  const Index* x = a.col_indices() + a.row_offsets()[self];
  const Index* x_end = a.col_indices() + a.row_offsets()[self + 1];
  const Index* y = b.col_indices() + b.row_offsets()[self];
  const Index* y_end = b.col_indices() + b.row_offsets()[self + 1];
  while (x != x_end || y != y_end) {
    Index next;
    if (y == y_end || (x != x_end && *x < *y)) {
      next = *x++;
    } else {
      next = *y++;
      if (x != x_end && *x == next) ++x;
    }
    if (next != self) take(next);
  }
}

}  // namespace

Adjacency build_adjacency(const CsrMatrix& matrix,
                          const std::function<void(Offset entries)>& before_allocation) {
  assert(matrix.rows() == matrix.cols());
  const Index n = matrix.rows();
  // Values are neither needed nor copied: a view of the same arrays that ignores them.
  const CsrMatrix pattern(n, n, matrix.row_offsets(), matrix.col_indices(), ValueKind::none,
                          nullptr, std::make_shared<CsrMatrix>(matrix));
  const CsrMatrix mirrored = transpose(pattern);

  Adjacency graph;
  graph.vertices = n;
  graph.offsets = Buffer<Offset>(Offset{n} + 1);
  Offset* offsets = graph.offsets.data();
  offsets[0] = 0;
#pragma omp parallel for schedule(dynamic, 1024) if (n > kWorthThreads)
  for (Index v = 0; v < n; ++v) {
    Offset degree = 0;
    merge_rows(pattern, mirrored, v, [&](Index) { ++degree; });
    offsets[v + 1] = degree;
  }
  for (Index v = 0; v < n; ++v) offsets[v + 1] += offsets[v];

  if (before_allocation) before_allocation(offsets[n]);
  graph.neighbours = Buffer<Index>(offsets[n]);
  Index* neighbours = graph.neighbours.data();
#pragma omp parallel for schedule(dynamic, 1024) if (n > kWorthThreads)
  for (Index v = 0; v < n; ++v) {
    Index* to = neighbours + offsets[v];
    merge_rows(pattern, mirrored, v, [&](Index neighbour) { *to++ = neighbour; });
  }
  return graph;
}

}  // namespace csrkit::reorder
