// rcm: reverse Cuthill-McKee, which narrows the band around the diagonal.
//
// Every connected component is numbered breadth first (level_numbering.h), and the numbering is
// then reversed, which keeps the bandwidth and lowers the profile (George, 1971). It begins at a
// far end, by the algorithm of George and Liu (ACM TOMS 5(3), 1979): search from a vertex, move to
// the vertex of least degree in the last level, repeat while that gains levels. On meshes nothing
// is narrower. On graphs of few wide levels a far end is no better than other vertices: there more
// roots are tried, from all parts of the component, each until its band is wider than the best one.
// Components follow each other in the order of their first vertices. Ties go to the lower number,
// so the result depends on nothing but the pattern.
#include <algorithm>
#include <vector>

#include "preprocess/reorder/adjacency.h"
#include "preprocess/reorder/level_numbering.h"
#include "preprocess/reorder/method.h"
#include "preprocess/reorder/ranked_graph.h"

namespace csrkit::reorder {

namespace {

// Real graphs settle after two to five searches. The limit is for crafted graphs that gain a single
// level per search, which would make the whole quadratic; they lose quality, nothing else.
constexpr int kMaxSearches = 16;

// Rows between two calls of the progress callback.
constexpr Index kProgressStep = 1 << 20;

// A band of less than this share of its component is that of a mesh, whose far ends are best.
constexpr Index kMeshShare = 32;
// Two roots are tried from each of so many parts of a component. With four, no graph of the real
// set has a wider band than SciPy's; eight were no narrower and took twice as long.
constexpr Index kParts = 4;

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
  struct Start {
    Index root, size;
  };
  Start far_end(Index start) {
    LevelNumbering::Levels best = levels_.search(start);
    for (int searches = 1; searches < kMaxSearches; ++searches) {
      const LevelNumbering::Levels next = levels_.search(best.farthest);
      if (next.count <= best.count) break;
      best = next;
    }
    return {best.farthest, best.size};
  }

  void number_component(Index first) {
    if (ranked_.graph.degree(first) == 0) {
      best_[0] = first;
      levels_.keep(best_, 1);
      return;
    }
    const Start start = far_end(first);
    Index bandwidth = LevelNumbering::kTooWide;
    try_root(start.root, start.size, bandwidth);
    // Only the widest component decides on the bandwidth of the matrix.
    if (bandwidth > widest_ && bandwidth > start.size / kMeshShare) {
      for (const Index root : more_roots(start.size)) try_root(root, start.size, bandwidth);
    }
    widest_ = std::max(widest_, bandwidth);
    std::reverse(best_.data(), best_.data() + start.size);
    levels_.keep(best_, start.size);
  }

  /// Of each part of the numbering the vertex of most neighbours, then the one in the middle.
  std::vector<Index> more_roots(Index size) const {
    std::vector<Index> middles, roots;
    for (Index part = 0; part < kParts; ++part) {
      const auto begin = static_cast<Index>(Offset{size} * part / kParts);
      const auto end = static_cast<Index>(Offset{size} * (part + 1) / kParts);
      if (begin == end) continue;
      middles.push_back(best_[begin + (end - begin) / 2]);
      roots.push_back(*std::max_element(best_.data() + begin, best_.data() + end));
    }
    roots.insert(roots.end(), middles.begin(), middles.end());
    return roots;
  }

  /// Keeps the numbering in best_ if it is narrower than `bandwidth`.
  void try_root(Index root, Index size, Index& bandwidth) {
    const Index found = levels_.number(
        root, bandwidth == LevelNumbering::kTooWide ? ranked_.graph.vertices : bandwidth - 1);
    if (found == LevelNumbering::kTooWide) return;
    bandwidth = found;
    for (Index i = 0; i < size; ++i) best_[i] = levels_.vertex_at(levels_.done() + i);
  }

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
