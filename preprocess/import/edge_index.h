// Edges as arrays of NumPy: edge_index of PyTorch Geometric and others.
#pragma once

#include "preprocess/import/format_reader.h"
#include "preprocess/import/npz_archive.h"

namespace csrkit {

/// The matrix of an edge_index: as many nodes as `nodes` says, or, if that is negative, as --rows
/// and --cols or the largest id say. `weights` may be null. Fills `result`.
void finish_edge_index(const NpyArray& edges, const NpyArray* weights, Offset nodes,
                       const ReadRequest& request, ImportResult& result);

}  // namespace csrkit
