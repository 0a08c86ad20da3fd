// One line per entry: row, column and, if there are values, the value; tab-separated.
#include <algorithm>

#include "core/base/counted.h"
#include "preprocess/export/export_format.h"
#include "preprocess/export/ordered_text.h"

namespace csrkit {

namespace {

std::string shape_of(const CsrMatrix& matrix) {
  return std::to_string(matrix.rows()) + " x " + std::to_string(matrix.cols());
}

}  // namespace

std::string loss_edge_list(const CsrMatrix& matrix, const Parameters& parameters) {
  const Offset base = parameters.choice("base");
  // Readers know ids only, and take them for the vertices of one graph.
  Offset ids = 0;
  for (Index row = matrix.rows(); row > 0; --row) {
    if (matrix.row_length(row - 1) == 0) continue;
    ids = row;
    break;
  }
  const Index* cols = matrix.col_indices();
  const Offset nnz = matrix.nnz();
#pragma omp parallel for schedule(static) reduction(max : ids)
  for (Offset at = 0; at < nnz; ++at) ids = std::max(ids, Offset{cols[at]} + 1);
  // Without an edge there is nothing to read or even recognise, so 0 x 0 is lost as well.
  if (ids > 0 && ids == matrix.rows() && ids == matrix.cols()) return {};
  const std::string sizes = "--rows " + std::to_string(matrix.rows()) + " --cols " +
                            std::to_string(matrix.cols()) + (base == 1 ? " --base 1" : "");
  const std::string lost = "the size " + shape_of(matrix) + ", since ";
  if (ids > 0) {
    return lost + "the ids in the list end at " + std::to_string(ids - 1 + base) +
           " (importing with " + sizes + " restores it)";
  }
  const bool can_be_said = matrix.rows() > 0 && matrix.cols() > 0;
  return lost + "a list without edges has none (" +
         (can_be_said ? "importing with --format edge-list " + sizes + " restores it)"
                      : "no import can restore it)");
}

void write_edge_list(const std::string& path, const CsrMatrix& matrix,
                     const WriteRequest& request) {
  const Offset base = request.parameters.choice("base");
  const std::unique_ptr<ByteSink> sink = text_sink(path);
  const bool has_values = matrix.value_kind() != ValueKind::none;
  std::string head = "# " + shape_of(matrix) + " matrix, " + counted(matrix.nnz(), "entry") +
                     "; row, column" + (has_values ? ", value (" : "") +
                     (has_values ? name_of(matrix.value_kind()) : "") + (has_values ? ")" : "") +
                     "; counted from " + std::to_string(base) + "\n";
  sink->write(head.data(), head.size());
  write_entry_lines(matrix, base, '\t', *sink, request.progress);
  sink->finish();
}

}  // namespace csrkit
