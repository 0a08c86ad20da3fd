// Small matrices by shape, for the tests of orderings, and what a good ordering is measured by.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/matrix/csr_matrix.h"
#include "core/matrix/permutation.h"

namespace csrkit::test {

using Entries = std::vector<std::pair<Index, Index>>;

/// A pattern matrix; entries in any order, repetitions dropped.
inline CsrMatrix pattern_of(Index rows, Index cols, Entries entries) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  Buffer<Offset> offsets(Offset{rows} + 1);
  std::fill(offsets.begin(), offsets.end(), Offset{0});
  Buffer<Index> cols_of(static_cast<Offset>(entries.size()));
  for (std::size_t at = 0; at < entries.size(); ++at) {
    ++offsets[entries[at].first + 1];
    cols_of[static_cast<Offset>(at)] = entries[at].second;
  }
  for (Index row = 0; row < rows; ++row) offsets[row + 1] += offsets[row];
  return CsrMatrix(rows, cols, std::move(offsets), std::move(cols_of),
                   ValueArray(ValueKind::none, static_cast<Offset>(entries.size())));
}

inline CsrMatrix undirected(Index vertices, Entries edges) {
  const std::size_t given = edges.size();
  for (std::size_t at = 0; at < given; ++at) edges.emplace_back(edges[at].second, edges[at].first);
  return pattern_of(vertices, vertices, std::move(edges));
}

inline CsrMatrix path(Index vertices) {
  Entries edges;
  for (Index v = 1; v < vertices; ++v) edges.emplace_back(v - 1, v);
  return undirected(vertices, std::move(edges));
}

/// Vertex 0 is the hub.
inline CsrMatrix star(Index leaves) {
  Entries edges;
  for (Index v = 1; v <= leaves; ++v) edges.emplace_back(0, v);
  return undirected(leaves + 1, std::move(edges));
}

/// Five-point neighbourhood, row by row, without the diagonal.
inline CsrMatrix grid(Index width, Index height) {
  Entries edges;
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      if (x > 0) edges.emplace_back(y * width + x, y * width + x - 1);
      if (y > 0) edges.emplace_back(y * width + x, (y - 1) * width + x);
    }
  }
  return undirected(width * height, std::move(edges));
}

/// Directed, with hubs, self loops, empty rows and empty columns.
inline CsrMatrix power_law(Index vertices, Index entries, std::uint64_t seed) {
  RandomStream stream(seed);
  const auto pick = [&] {
    const double u = stream.unit();
    return static_cast<Index>(u * u * u * vertices);
  };
  Entries all;
  for (Index at = 0; at < entries; ++at) {
    const Index row = pick();
    all.emplace_back(row, pick());
  }
  return pattern_of(vertices, vertices, std::move(all));
}

inline CsrMatrix shuffled(const CsrMatrix& matrix, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(matrix.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  RandomStream stream(seed);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[stream.below(left)]);
  }
  return permute_both(matrix, Permutation::from_new_of_old(Buffer<Index>::copy_of(
                                  order.data(), static_cast<Offset>(order.size()))));
}

/// The shapes that every method has to take.
struct NamedMatrix {
  std::string name;
  CsrMatrix matrix;
};

inline std::vector<NamedMatrix> square_battery() {
  Entries triangles;  // 0-1-2 and 5-6-7, while 3, 4 and 8 stand alone
  for (const Index base : {0, 5}) {
    triangles.insert(triangles.end(), {{base, base + 1}, {base + 1, base + 2}, {base, base + 2}});
  }
  return {
      {"no vertices", pattern_of(0, 0, {})},
      {"one vertex", pattern_of(1, 1, {})},
      {"one vertex with a self loop", pattern_of(1, 1, {{0, 0}})},
      {"two vertices, one arc", pattern_of(2, 2, {{1, 0}})},
      {"no entries", pattern_of(50, 50, {})},
      {"self loops only", pattern_of(3, 3, {{0, 0}, {1, 1}, {2, 2}})},
      {"one row holds everything", pattern_of(4, 4, {{2, 0}, {2, 1}, {2, 2}, {2, 3}})},
      {"one column holds everything", pattern_of(4, 4, {{0, 1}, {1, 1}, {2, 1}, {3, 1}})},
      {"directed cycle", pattern_of(5, 5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}})},
      {"disconnected", undirected(9, triangles)},
      {"path", shuffled(path(300), 1)},
      {"star", shuffled(star(500), 2)},
      {"grid", shuffled(grid(23, 17), 3)},
      {"power law", power_law(2000, 12000, 4)},
  };
}

inline Index bandwidth(const CsrMatrix& matrix) {
  Index widest = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      widest = std::max(widest, std::abs(matrix.col_indices()[at] - row));
    }
  }
  return widest;
}

/// Entries below the diagonal of the Cholesky factor of a matrix with this symmetric pattern, by
/// elimination on sets: slow and obvious.
inline Offset cholesky_entries(const CsrMatrix& matrix) {
  std::vector<std::set<Index>> later(static_cast<std::size_t>(matrix.rows()));
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      const Index col = matrix.col_indices()[at];
      if (col > row) later[static_cast<std::size_t>(row)].insert(col);
    }
  }
  Offset entries = 0;
  for (auto& pivot : later) {
    entries += static_cast<Offset>(pivot.size());
    if (pivot.empty()) continue;
    auto& first = later[static_cast<std::size_t>(*pivot.begin())];
    first.insert(std::next(pivot.begin()), pivot.end());
  }
  return entries;
}

}  // namespace csrkit::test
