// The undirected graph of a matrix, for RCM, communities and METIS.
#pragma once

#include <functional>

#include "core/matrix/csr_matrix.h"
#include "preprocess/reorder/reorder.h"

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

/// Gets the exact number of entries before they are allocated, so that a caller with narrower
/// integers or a memory forecast can throw in time.
using BeforeAllocation = std::function<void(Offset entries)>;

/// Parallel; the result is the same for any thread count. `matrix` must be square.
Adjacency build_adjacency(const CsrMatrix& matrix, const BeforeAllocation& before_allocation = {});

/// The bipartite graph of a matrix of any shape: rows are the vertices [0, rows), columns
/// [rows, rows + cols), every entry is an edge. rows + cols must be an Index.
Adjacency build_bipartite(const CsrMatrix& matrix);

/// The graph that a method with Takes::graph orders: A + A^T of a square matrix, else bipartite.
Adjacency build_graph(const CsrMatrix& matrix);

/// Reverse Cuthill-McKee (rcm.cpp): components stay together, in the order of their first vertices.
Buffer<Index> rcm_old_of_new(const Adjacency& graph, const ProgressCallback& progress);

/// Turns an order of the vertices of that graph into one of the rows and, for a rectangular matrix,
/// one of the columns. Both keep the order in which the vertices were numbered.
Ordering ordering_of_vertices(const CsrMatrix& matrix, Buffer<Index> old_of_new);

}  // namespace csrkit::reorder
