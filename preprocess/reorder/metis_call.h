// Calls METIS on a copy of the graph in METIS's own integers, in a child process that may crash.
#pragma once

#include <metis.h>

#include <array>
#include <functional>

#include "preprocess/reorder/adjacency.h"
#include "preprocess/reorder/method.h"

namespace csrkit::reorder {

/// The graph as METIS wants it. Sizes are checked against METIS's integers before any allocation.
struct MetisGraph {
  Adjacency graph;
  Buffer<idx_t> xadj;
  Buffer<idx_t> wide_neighbours;  // only for a METIS with 64-bit integers

  idx_t vertices() const { return static_cast<idx_t>(graph.vertices); }
  /// METIS takes pointers to non-const but writes through copies, or in the child's own memory.
  idx_t* xadj_pointer() { return xadj.data(); }
  idx_t* adjncy_pointer();
};

/// Throws UsageError if METIS's integers are too narrow, MemoryError if the graph and METIS's own
/// arrays will not fit.
MetisGraph make_metis_graph(const CsrMatrix& matrix);

using MetisOptions = std::array<idx_t, METIS_NOPTIONS>;
/// Defaults, C numbering, and the seed folded into the bits that METIS has for it.
MetisOptions metis_options(std::uint64_t seed);

/// Runs `work`, which returns METIS's status, in a child process. Throws Error (or MemoryError)
/// that names `call` and says how it ended unless that status is METIS_OK. Of `request`, the
/// parameter time-limit and the progress callback count.
void run_metis(const char* call, const std::function<int()>& work, const MethodRequest& request);

}  // namespace csrkit::reorder
