#include "preprocess/reorder/adjacency.h"

#include <omp.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/base/hash.h"
#include "core/base/huge_pages.h"
#include "core/matrix/merged_rows.h"

namespace csrkit::reorder {

namespace {

// Below this many vertices, or entries, waking threads takes longer than the work.
constexpr Index kWorthThreads = 4096;
constexpr Offset kEntriesWorthThreads = 1 << 20;

bool is_for_one(const CsrMatrix& matrix) {
  return matrix.nnz() < kEntriesWorthThreads || omp_get_max_threads() == 1;
}

/// Whether A and A^T have the same pattern, by one thread that stops at the first entry without its
/// mirror image: rows come in ascending order, so the next entry of row j that is not yet matched
/// must name the row that names j.
bool is_symmetric(const CsrMatrix& matrix) {
  const Offset* offsets = matrix.row_offsets();
  const Index* cols = matrix.col_indices();
  const Index n = matrix.rows();
  Buffer<Offset> next(n);
  std::copy_n(offsets, n, next.data());
  for (Index row = 0; row < n; ++row) {
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
      const Index col = cols[at];
      if (next[col] == offsets[col + 1] || cols[next[col]] != row) return false;
      ++next[col];
    }
  }
  return true;
}

/// The same by all threads, by the sums of a hash over the entries of both: much cheaper than A^T
/// itself. Different patterns have the same sum with probability 2^-64.
bool looks_symmetric(const CsrMatrix& matrix) {
  constexpr int kHashCost = 4;  // times the walk of one thread, for an entry
  if (is_for_one(matrix) || omp_get_max_threads() < kHashCost) return is_symmetric(matrix);
  const Offset* offsets = matrix.row_offsets();
  const Index* cols = matrix.col_indices();
  const auto hash = [](Index i, Index j) {
    return mix64(static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint64_t>(j));
  };
  std::uint64_t difference = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : difference) \
    if (matrix.rows() > kWorthThreads)
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
      difference += hash(row, cols[at]) - hash(cols[at], row);
    }
  }
  return difference == 0;
}

/// `degrees[v + 1]` is the degree of vertex v. Makes offsets of them, and room for the neighbours.
Adjacency with_room(Buffer<Offset> degrees, const BeforeAllocation& before_allocation) {
  Adjacency graph;
  graph.vertices = static_cast<Index>(degrees.size() - 1);
  graph.offsets = std::move(degrees);
  Offset* offsets = graph.offsets.data();
  offsets[0] = 0;
  for (Index v = 0; v < graph.vertices; ++v) offsets[v + 1] += offsets[v];
  const Offset entries = offsets[graph.vertices];
  if (before_allocation) before_allocation(entries);
  graph.neighbours = Buffer<Index>(entries);
  advise_huge_pages(graph.neighbours.data(), graph.neighbours.size_bytes());
  return graph;
}

/// The union of both patterns in one pass by one thread, into room for all entries of both.
Adjacency merged_at_once(const CsrMatrix& pattern, const CsrMatrix& mirrored) {
  Adjacency graph;
  graph.vertices = pattern.rows();
  graph.offsets = Buffer<Offset>(Offset{graph.vertices} + 1);
  graph.neighbours = Buffer<Index>(2 * pattern.nnz());
  Index* to = graph.neighbours.data();
  for (Index v = 0; v < graph.vertices; ++v) {
    graph.offsets[v] = to - graph.neighbours.data();
    for_each_neighbour(pattern, mirrored, v, [&](Index neighbour) { *to++ = neighbour; });
  }
  graph.offsets[graph.vertices] = to - graph.neighbours.data();
  graph.neighbours.truncate(graph.offsets[graph.vertices]);
  return graph;
}

/// A symmetric pattern without its diagonal is the graph: nothing has to be merged.
Adjacency without_diagonal(const CsrMatrix& pattern, const BeforeAllocation& before_allocation) {
  const Index n = pattern.rows();
  const Offset* rows = pattern.row_offsets();
  const Index* cols = pattern.col_indices();
  Buffer<Offset> degrees(Offset{n} + 1);
#pragma omp parallel for schedule(static) if (pattern.nnz() >= kEntriesWorthThreads)
  for (Index v = 0; v < n; ++v) {
    const bool has_loop = std::binary_search(cols + rows[v], cols + rows[v + 1], v);
    degrees[v + 1] = rows[v + 1] - rows[v] - (has_loop ? 1 : 0);
  }
  Adjacency graph = with_room(std::move(degrees), before_allocation);
  const Offset* offsets = graph.offsets.data();
  Index* neighbours = graph.neighbours.data();
#pragma omp parallel for schedule(dynamic, 1024) if (offsets[n] >= kEntriesWorthThreads)
  for (Index v = 0; v < n; ++v) {
    // Two copies of a stretch: a test of every entry would take four times as long.
    const Index* const diagonal = std::lower_bound(cols + rows[v], cols + rows[v + 1], v);
    const bool has_loop = diagonal != cols + rows[v + 1] && *diagonal == v;
    Index* const to = std::copy(cols + rows[v], diagonal, neighbours + offsets[v]);
    std::copy(diagonal + (has_loop ? 1 : 0), cols + rows[v + 1], to);
  }
  return graph;
}

}  // namespace

Adjacency build_adjacency(const CsrMatrix& matrix, const BeforeAllocation& before_allocation) {
  assert(matrix.rows() == matrix.cols());
  const Index n = matrix.rows();
  const CsrMatrix pattern = pattern_view(matrix);
  if (looks_symmetric(pattern)) return without_diagonal(pattern, before_allocation);
  const CsrMatrix mirrored = transpose(pattern);
  // Who asks for the number of entries before they are allocated has them counted first.
  if (!before_allocation && is_for_one(pattern)) {
    return merged_at_once(pattern, mirrored);
  }

  Buffer<Offset> degrees(Offset{n} + 1);
#pragma omp parallel for schedule(dynamic, 1024) if (n > kWorthThreads)
  for (Index v = 0; v < n; ++v) {
    Offset degree = 0;
    for_each_neighbour(pattern, mirrored, v, [&](Index) { ++degree; });
    degrees[v + 1] = degree;
  }
  Adjacency graph = with_room(std::move(degrees), before_allocation);
  const Offset* offsets = graph.offsets.data();
  Index* neighbours = graph.neighbours.data();
#pragma omp parallel for schedule(dynamic, 1024) if (n > kWorthThreads)
  for (Index v = 0; v < n; ++v) {
    Index* to = neighbours + offsets[v];
    for_each_neighbour(pattern, mirrored, v, [&](Index neighbour) { *to++ = neighbour; });
  }
  return graph;
}

Adjacency build_bipartite(const CsrMatrix& matrix) {
  const Index rows = matrix.rows(), cols = matrix.cols();
  const Offset nnz = matrix.nnz();
  const CsrMatrix mirrored = transpose(pattern_view(matrix));
  Adjacency graph;
  graph.vertices = rows + cols;
  graph.offsets = Buffer<Offset>(Offset{graph.vertices} + 1);
  graph.neighbours = Buffer<Index>(2 * nnz);
  std::copy_n(matrix.row_offsets(), Offset{rows} + 1, graph.offsets.data());
  for (Index col = 0; col < cols; ++col) {
    graph.offsets[Offset{rows} + col + 1] = nnz + mirrored.row_offsets()[col + 1];
  }
  for (Offset at = 0; at < nnz; ++at) graph.neighbours[at] = rows + matrix.col_indices()[at];
  std::copy_n(mirrored.col_indices(), nnz, graph.neighbours.data() + nnz);
  return graph;
}

Adjacency build_graph(const CsrMatrix& matrix) {
  return matrix.rows() == matrix.cols() ? build_adjacency(matrix) : build_bipartite(matrix);
}

Ordering ordering_of_vertices(const CsrMatrix& matrix, Buffer<Index> old_of_new) {
  const Index rows = matrix.rows(), cols = matrix.cols();
  if (rows == cols) {
    return {Permutation::from_old_of_new(std::move(old_of_new))};
  }
  Buffer<Index> row_order(rows), col_order(cols);
  Index next_row = 0, next_col = 0;
  for (const Index vertex : old_of_new) {
    if (vertex < rows) {
      row_order[next_row++] = vertex;
    } else {
      col_order[next_col++] = vertex - rows;
    }
  }
  return {Permutation::from_old_of_new(std::move(row_order)), std::nullopt,
          Permutation::from_old_of_new(std::move(col_order))};
}

}  // namespace csrkit::reorder
