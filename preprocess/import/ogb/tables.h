// Tables of the Open Graph Benchmark: counts, edges, weights.
#pragma once

#include <string>
#include <vector>

#include "preprocess/import/format_reader.h"
#include "preprocess/import/ogb/files.h"

namespace csrkit {

/// A table of one number per graph. InputError names the line.
std::vector<Offset> read_counts(const OgbFiles& files, const std::string& table,
                                const SourceLimits& limits);

/// The sum of node counts, which must be an Index; `where` begins the message.
Index total_nodes(const std::vector<Offset>& counts, const std::string& where);

/// The table `edge` of a folder (edge_table is "edge" or "relations/<...>/edge"): `edges` lines of
/// a row below `rows` and a column below `cols`; edges of -1 means any number. Pattern only.
CooMatrix read_edge_table(const OgbFiles& files, const std::string& edge_table, Index rows,
                          Index cols, Offset edges, const ReadRequest& request,
                          ImportResult& result);

/// The weight of every edge, of kind f64 or as the user asked for.
ValueArray read_weight_table(const OgbFiles& files, Offset edges, const ReadRequest& request,
                             ImportResult& result);

/// Many graphs, each with node numbers of its own from 0, become the diagonal blocks of one matrix.
/// InputError if an edge of a graph names a node that the graph lacks.
void stack_graphs(const std::vector<Offset>& nodes, const std::vector<Offset>& edges,
                  const std::string& where, CooMatrix& coo);

}  // namespace csrkit
