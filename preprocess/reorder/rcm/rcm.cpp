// rcm: reverse Cuthill-McKee, which narrows the band around the diagonal.
//
// Every connected component is numbered breadth first (level_numbering.h), and the numbering is
// then reversed, which keeps the bandwidth and lowers the profile (George, 1971). It begins at a
// far end, by the algorithm of George and Liu (ACM TOMS 5(3), 1979): search from a vertex, move to
// the vertex of least degree in the last level, repeat while that gains levels. On meshes nothing
// is narrower. On graphs of few wide levels a far end is no better than other vertices: the
// narrowest of all these numberings stays, and three more roots are tried, each until its band is
// wider than the best one. (With fewer, bcsstk18 or ogbn-arxiv has a wider band than SciPy's order;
// with more, no graph of the real set passes SciPy that did not before.) Components follow each
// other in the order of their first vertices. Ties go to the lower number, so the result depends on
// nothing but the pattern.
#include <algorithm>
#include <vector>

#include "preprocess/reorder/adjacency.h"
#include "preprocess/reorder/method.h"
#include "preprocess/reorder/rcm/level_numbering.h"
#include "preprocess/reorder/rcm/ranked_graph.h"

namespace csrkit::reorder {

namespace {

// Real graphs settle after two to five searches. The limit is for crafted graphs that gain a single
// level per search, which would make the whole quadratic; they lose quality, nothing else.
constexpr int kMaxSearches = 16;

// Rows between two calls of the progress callback.
constexpr Index kProgressStep = 1 << 20;

// A band of less than this share of its component is that of a mesh, whose far ends are best.
constexpr Index kMeshShare = 8;
class Rcm {
 public:
  explicit Rcm(const Adjacency& graph)
      : ranked_(ranked_by_degree(graph)), levels_(ranked_.graph), best_(graph.vertices) {}

  Buffer<Index> old_of_new(const ProgressCallback& progress) {
    Index reported = 0;
    const Index vertices = ranked_.graph.vertices;
    for (Index v = 0; v < vertices; ++v) {
      const Index rank = ranked_.rank_of_vertex[v];
      if (levels_.is_numbered(rank)) continue;
      number_component(rank);
      if (progress && levels_.done() - reported >= kProgressStep) {
        reported = levels_.done();
        progress("rcm", static_cast<std::uint64_t>(reported), static_cast<std::uint64_t>(vertices));
      }
    }
    Buffer<Index> order = levels_.take_order();
    for (Index& vertex : order) vertex = ranked_.vertex_of_rank[vertex];
    return order;
  }

 private:
  /// Numbers from one far end after the other; the narrowest numbering is then in best_.
  LevelNumbering::Levels far_end(Index start) {
    LevelNumbering::Levels last = levels_.number(start), best = last;
    take_best(best.size);
    for (int searches = 1; searches <= kMaxSearches; ++searches) {
      const LevelNumbering::Levels next = levels_.number(last.farthest);
      if (next.bandwidth <= best.bandwidth) {
        best = next;
        take_best(best.size);
      }
      if (next.count <= last.count) break;
      last = next;
    }
    return best;
  }

  void number_component(Index first) {
    if (ranked_.graph.degree(first) == 0) {
      best_[0] = first;
      levels_.keep(best_, 1);
      return;
    }
    const LevelNumbering::Levels start = far_end(first);
    Index bandwidth = start.bandwidth;
    // Only the widest component decides on the bandwidth of the matrix.
    if (bandwidth > widest_ && bandwidth > start.size / kMeshShare) {
      for (const Index root : more_roots(start.size)) try_root(root, start.size, bandwidth);
    }
    widest_ = std::max(widest_, bandwidth);
    std::reverse(best_.data(), best_.data() + start.size);
    levels_.keep(best_, start.size);
  }

  /// Of the numbering from the last far end: the vertices of most neighbours in its first and its
  /// last quarter, then the middle of the first quarter.
  std::vector<Index> more_roots(Index size) const {
    const Index quarter = size / 4;
    if (quarter == 0) return {};
    const Index* order = levels_.places() + levels_.done();
    return {*std::max_element(order, order + quarter),
            *std::max_element(order + size - quarter, order + size), order[quarter / 2]};
  }

  /// Keeps the numbering in best_ if it is narrower than `bandwidth`.
  void try_root(Index root, Index size, Index& bandwidth) {
    const LevelNumbering::Levels found = levels_.number(root, bandwidth - 1);
    if (found.bandwidth == LevelNumbering::kTooWide) return;
    bandwidth = found.bandwidth;
    take_best(size);
  }

  void take_best(Index size) { std::copy_n(levels_.places() + levels_.done(), size, best_.data()); }

  RankedGraph ranked_;  // all below is in its ranks
  LevelNumbering levels_;
  Buffer<Index> best_;  // of the component at hand
  Index widest_ = 0;    // band of the components before
};

}  // namespace

Buffer<Index> rcm_old_of_new(const Adjacency& graph, const ProgressCallback& progress) {
  return Rcm(graph).old_of_new(progress);
}

Ordering rcm(const CsrMatrix& matrix, const MethodRequest& request) {
  const Adjacency graph = build_graph(matrix);
  return ordering_of_vertices(matrix, rcm_old_of_new(graph, request.progress));
}

}  // namespace csrkit::reorder
