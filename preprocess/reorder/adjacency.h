// The undirected graph behind a square matrix: what RCM and METIS look at.
#pragma once

#include <functional>

#include "core/csr_matrix.h"

namespace csrkit::reorder {

/// The pattern of A + A^T without its diagonal. Vertex v has the neighbours
/// [offsets[v], offsets[v + 1]). Invariants: ascending and unique per vertex, never v itself, and
/// u is a neighbour of v exactly if v is one of u.
struct Adjacency {
  Index vertices = 0;
  Buffer<Offset> offsets;  // vertices + 1
  Buffer<Index> neighbours;

  Offset entries() const { return neighbours.size(); }  // every edge counts twice
  Index degree(Index v) const { return static_cast<Index>(offsets[v + 1] - offsets[v]); }
};

/// `before_allocation` hears the exact number of entries before room for them is asked for, so that
/// a caller with narrower integers or a memory forecast can throw in time. Parallel; the same
/// result for any thread count. `matrix` must be square.
Adjacency build_adjacency(const CsrMatrix& matrix,
                          const std::function<void(Offset entries)>& before_allocation = {});

}  // namespace csrkit::reorder
