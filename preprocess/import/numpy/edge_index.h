// Edges as arrays of NumPy: edge_index of PyTorch Geometric and others.
#pragma once

#include "preprocess/import/format_reader.h"
#include "preprocess/import/numpy/npz_archive.h"

namespace csrkit {

/// Fills `result` with the matrix of an edge_index. It has `nodes` nodes or, if that is negative,
/// as many as --rows and --cols or the largest id say. `weights` may be null.
void finish_edge_index(const NpyArray& edges, const NpyArray* weights, Offset nodes,
                       const ReadRequest& request, ImportResult& result);

}  // namespace csrkit
