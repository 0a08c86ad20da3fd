// A graph whose vertices are named by their degree.
#pragma once

#include "preprocess/reorder/adjacency.h"

namespace csrkit::reorder {

/// Vertices of fewer neighbours have lower ranks; ties go to the lower number.
struct RankedGraph {
  Buffer<Index> vertex_of_rank, rank_of_vertex;
  Adjacency graph;  // of the ranks
};

/// O(entries): both the ranks and the lists of neighbours come from counting.
RankedGraph ranked_by_degree(const Adjacency& graph);

}  // namespace csrkit::reorder
