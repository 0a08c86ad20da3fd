// laplacian: degrees minus adjacency of a graph that is read from a file, plus a diagonal.
#include <cmath>

#include "core/file/csr_file.h"
#include "preprocess/generate/common/csr_builder.h"

namespace csrkit {

namespace {

/// Calls f(col, weight) ascending for the neighbours of `row` other than itself. An edge weighs the
/// mean of |a_ij| and |a_ji|.
template <class View, class F>
void for_each_edge(const View& a, const View& mirrored, Index row, F&& f) {
  Offset left = a.row_offsets[row], right = mirrored.row_offsets[row];
  const Offset left_end = a.row_offsets[row + 1], right_end = mirrored.row_offsets[row + 1];
  while (left < left_end || right < right_end) {
    const Index left_col = left < left_end ? a.col_indices[left] : kMaxIndex;
    const Index right_col = right < right_end ? mirrored.col_indices[right] : kMaxIndex;
    const Index col = std::min(left_col, right_col);
    double weight = 0;
    if (left_col == col) weight += std::abs(a.template value_as<double>(left++));
    if (right_col == col) weight += std::abs(mirrored.template value_as<double>(right++));
    if (col != row) f(col, weight / 2);
  }
}

/// Of every row: its edges, and the diagonal.
template <class View>
Buffer<Index> lengths_of_rows(const View& a, const View& b, Index rows) {
  Buffer<Index> lengths(rows);
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index row = 0; row < rows; ++row) {
    Index length = 1;
    for_each_edge(a, b, row, [&](Index, double) { ++length; });
    lengths[row] = length;
  }
  return lengths;
}

template <class Value>
void put(CsrPattern& pattern, ValueArray& values, Offset at, Index col, double value) {
  pattern.col_indices[at] = col;
  if constexpr (!std::is_same_v<Value, ImplicitOne>) {
    values.as<Value>()[at] = store_as<Value>(value);
  }
}

template <class View>
void fill_rows(const View& a, const View& b, double shift, CsrPattern& pattern,
               ValueArray& values) {
  with_value_type(values.kind(), [&](auto tag) {
    using Value = typename decltype(tag)::type;
#pragma omp parallel for schedule(dynamic, 1024)
    for (Index row = 0; row < a.rows; ++row) {
      Offset at = pattern.row_offsets[row], at_diagonal = -1;
      double degree = 0;
      for_each_edge(a, b, row, [&](Index col, double weight) {
        if (at_diagonal < 0 && col > row) at_diagonal = at++;
        put<Value>(pattern, values, at++, col, -weight);
        degree += weight;
      });
      put<Value>(pattern, values, at_diagonal < 0 ? at : at_diagonal, row, degree + shift);
    }
  });
}

}  // namespace

std::vector<Parameter> laplacian_parameters() {
  using namespace parameter;
  return {
      text("graph", "", "the .csr file; directions are forgotten, loops left out"),
      number("shift", "0.1", 0, 1e12,
             "added to every diagonal element; with 0 the matrix is singular"),
  };
}

CsrMatrix generate_laplacian(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  request.require_random(false);
  const CsrMatrix graph = read_csr_file(given.text("graph")).matrix;
  if (graph.rows() != graph.cols()) {
    throw InputError(given.text("graph") + ": expected the square matrix of a graph, found " +
                     std::to_string(graph.rows()) + " x " + std::to_string(graph.cols()));
  }
  const CsrMatrix mirrored = transpose(graph);
  const double shift = given.number("shift");
  const Index rows = graph.rows();
  CsrPattern pattern;
  ValueArray values;
  graph.visit([&](const auto& a) {
    using View = std::decay_t<decltype(a)>;
    mirrored.visit([&](const auto& b) {
      if constexpr (std::is_same_v<std::decay_t<decltype(b)>, View>) {
        pattern.row_offsets = offsets_of(lengths_of_rows(a, b, rows));
        pattern.col_indices = Buffer<Index>(pattern.row_offsets[rows]);
        require_room(0, pattern.row_offsets[rows], size_of(request.value_kind));
        values = ValueArray(request.value_kind, pattern.row_offsets[rows]);
        fill_rows(a, b, shift, pattern, values);
      }
    });
  });
  return CsrMatrix(rows, rows, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                   std::move(values));
}

}  // namespace csrkit
