// METIS .graph: vertices and undirected edges in the first line, then the neighbours of every
// vertex, 1-based. It knows neither values nor directions nor self loops; with the loss allowed,
// every edge is written in both directions, self loops and values are left out.
#include "preprocess/export/export_format.h"
#include "preprocess/export/ordered_text.h"
#include "preprocess/transform/transform.h"

namespace csrkit {

namespace {

Offset count_self_loops(const CsrMatrix& matrix) {
  Offset count = 0;
#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : count)
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      count += matrix.col_indices()[at] == row;
    }
  }
  return count;
}

Offset count_other_values(const CsrMatrix& matrix) {
  return matrix.visit([](auto a) {
    Offset count = 0;
    const Offset nnz = a.nnz();
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (Offset at = 0; at < nnz; ++at) count += !(a.template value_as<double>(at) == 1);
    return count;
  });
}

}  // namespace

std::string loss_metis_graph(const CsrMatrix& matrix) {
  if (matrix.rows() != matrix.cols()) {
    throw UsageError("a METIS graph needs a square matrix; this one is " +
                     std::to_string(matrix.rows()) + " x " + std::to_string(matrix.cols()));
  }
  std::string loss;
  const auto add = [&](Offset count, const std::string& what) {
    if (count > 0) loss += (loss.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  const CsrMatrix pattern = convert_values(matrix, ValueKind::none);
  add(count_other_values(matrix), "values other than 1");
  add(count_self_loops(matrix), "self loops");
  add(symmetrize(pattern).nnz() - matrix.nnz(), "one-way edges (they become two-way)");
  return loss;
}

void write_metis_graph(const std::string& path, const CsrMatrix& matrix,
                       const ProgressCallback& progress) {
  constexpr Offset kRowsPerPiece = 1 << 12;
  const CsrMatrix graph = symmetrize(drop_self_loops(convert_values(matrix, ValueKind::none)));
  const std::unique_ptr<ByteSink> sink = plain_sink(path);
  const std::string head =
      std::to_string(graph.rows()) + " " + std::to_string(graph.nnz() / 2) + "\n";
  sink->write(head.data(), head.size());
  write_in_order(graph.rows(), kRowsPerPiece, *sink, progress,
                 [&](Offset begin, Offset end, std::string& text) {
                   for (Offset row = begin; row < end; ++row) {
                     const Offset first = graph.row_offsets()[row];
                     for (Offset at = first; at < graph.row_offsets()[row + 1]; ++at) {
                       if (at > first) text += ' ';
                       append_number(text, Offset{graph.col_indices()[at]} + 1);
                     }
                     text += '\n';
                   }
                 });
  sink->finish();
}

}  // namespace csrkit
