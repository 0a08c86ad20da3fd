// Heterogeneous data sets of the Open Graph Benchmark: several kinds of nodes, and relations
// between them.
#pragma once

#include "preprocess/import/format_reader.h"
#include "preprocess/import/ogb/files.h"

namespace csrkit {

/// Whether the data set has kinds of nodes.
bool has_relations(const OgbFiles& files);

/// One relation, as a matrix of its head's nodes by its tail's, or all of them as one block matrix:
/// kinds of nodes in alphabetical order, as the package sorts them, rows and columns alike.
/// `wanted` is "author___writes___paper", "all" or "auto", which is an error that lists the
/// relations.
CooMatrix read_relations(const OgbFiles& files, const std::string& wanted,
                         const ReadRequest& request, ImportResult& result);

}  // namespace csrkit
