// METIS .graph: vertices and undirected edges in the first line, then the neighbours of every
// vertex, 1-based. It knows neither values nor directions nor self loops; with the loss allowed,
// every edge is written in both directions, self loops and values are left out.
#include "core/base/counted.h"
#include "core/base/text.h"
#include "core/matrix/merged_rows.h"
#include "preprocess/export/export_format.h"
#include "preprocess/export/ordered_text.h"

namespace csrkit {

namespace {

/// The pattern and its mirror image: what an undirected graph is made of.
struct Graph {
  CsrMatrix forward;
  CsrMatrix backward;
  explicit Graph(const CsrMatrix& matrix)
      : forward(pattern_view(matrix)), backward(transpose(forward)) {}
};

struct Counts {
  Offset self_loops = 0;
  Offset one_way = 0;  // edges, each seen from both of its ends
  Offset neighbours = 0;
};

Counts count_edges(const Graph& graph) {
  Offset self_loops = 0, one_way = 0, neighbours = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : self_loops, one_way, neighbours)
  for (Index row = 0; row < graph.forward.rows(); ++row) {
    for_each_in_either(graph.forward, graph.backward, row, [&](Index col, bool is_two_way) {
      self_loops += col == row;
      one_way += !is_two_way;
      neighbours += col != row;
    });
  }
  return {self_loops, one_way / 2, neighbours};
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

std::string loss_metis_graph(const CsrMatrix& matrix, const Parameters&) {
  if (matrix.rows() != matrix.cols()) {
    throw UsageError("a METIS graph needs a square matrix; this one is " +
                     std::to_string(matrix.rows()) + " x " + std::to_string(matrix.cols()) +
                     "; choose another format");
  }
  std::string loss;
  const auto add = [&](Offset count, const char* thing, const std::string& more = "") {
    if (count > 0) append_item(loss, counted(count, thing) + more);
  };
  const Counts counts = count_edges(Graph(matrix));
  add(count_other_values(matrix), "value", " other than 1");
  add(counts.self_loops, "self loop");
  add(counts.one_way, "one-way edge",
      counts.one_way == 1 ? " (it becomes two-way)" : " (they become two-way)");
  return loss;
}

void write_metis_graph(const std::string& path, const CsrMatrix& matrix,
                       const WriteRequest& request) {
  constexpr Offset kRowsPerPiece = 1 << 12;
  const Graph graph(matrix);
  const std::unique_ptr<ByteSink> sink = text_sink(path);
  const std::string head = std::to_string(matrix.rows()) + " " +
                           std::to_string(count_edges(graph).neighbours / 2) + "\n";
  sink->write(head.data(), head.size());
  write_in_order(matrix.rows(), kRowsPerPiece, *sink, request.progress,
                 [&](Offset begin, Offset end, std::string& text) {
                   for (Offset row = begin; row < end; ++row) {
                     bool is_first = true;
                     for_each_neighbour(graph.forward, graph.backward, static_cast<Index>(row),
                                        [&](Index col) {
                                          if (!is_first) text += ' ';
                                          is_first = false;
                                          append_number(text, Offset{col} + 1);
                                        });
                     text += '\n';
                   }
                 });
  sink->finish();
}

}  // namespace csrkit
