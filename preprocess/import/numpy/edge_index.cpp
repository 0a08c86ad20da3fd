// One NumPy array: edge_index, two rows (or columns) of node numbers.
#include "preprocess/import/numpy/edge_index.h"

#include "preprocess/import/foreign_file.h"

namespace csrkit {

namespace {

Index largest_of(const Buffer<Index>& ids) {
  Index largest = -1;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (Offset i = 0; i < ids.size(); ++i) largest = std::max(largest, ids[i]);
  return largest;
}

/// The size that was asked for must hold every id.
Index checked_size(const ReadRequest& request, const char* side, Index largest,
                   const std::string& where) {
  if (!request.parameters.is_set(side)) return largest + 1;
  const Index size = request.parameters.index(side);
  if (largest < size) return size;
  throw InputError(where + ": byte 0: expected ids below --" + side + " " + std::to_string(size) +
                   ", found " + std::to_string(largest));
}

/// Real numbers, truth values, or a matrix that has neither two rows nor two columns.
bool is_dense(const NpyHeader& header) {
  const char kind = header.descr.size() > 1 ? header.descr[1] : '?';
  const std::vector<std::int64_t>& shape = header.shape;
  return kind == 'f' || kind == 'b' || (shape.size() == 2 && shape[0] != 2 && shape[1] != 2);
}

}  // namespace

void finish_edge_index(const NpyArray& edges, const NpyArray* weights, Offset nodes,
                       const ReadRequest& request, ImportResult& result) {
  CooMatrix coo = edges.to_edges(nodes >= 0 ? nodes : kMaxIndex);
  if (nodes >= 0) {
    coo.rows = coo.cols = static_cast<Index>(nodes);
  } else {
    const Index largest_row = largest_of(coo.row_indices),
                largest_col = largest_of(coo.col_indices);
    coo.rows = checked_size(request, "rows", largest_row, edges.where());
    coo.cols = checked_size(request, "cols", largest_col, edges.where());
    const Parameters& given = request.parameters;
    if (!given.is_set("rows") && !given.is_set("cols")) {
      make_square(coo);
    }
  }
  if (weights != nullptr && request.value_kind != name_of(ValueKind::none)) {
    weights->require_column(coo.nnz(), "edge");
    coo.values = weights->to_values();
  }
  result.entries_read = coo.nnz();
  finish_coo(std::move(coo), request, edges.where(), result);
}

bool matches_edge_index(const Peek& peek) {
  return !peek.is_directory && peek.head.substr(0, 6) == "\x93NUMPY";
}

ImportResult read_edge_index(const std::string& path, const ReadRequest& request) {
  const std::shared_ptr<ByteSource> source = open_input(path, request);
  const std::int64_t size = source->size_bytes();
  const NpyArray array = read_npy_array(
      *source, size >= 0 ? static_cast<std::uint64_t>(size) : request.limits.decompressed_bytes(0));
  if (is_dense(array.header())) {
    throw InputError(path +
                     filled(": byte 0: expected an edge_index, integers in two rows, found a "
                            "dense matrix; Python makes it sparse:\n  import numpy, "
                            "scipy.sparse\n  scipy.sparse.save_npz('FILE.npz', "
                            "scipy.sparse.csr_matrix(numpy.load('FILE')))",
                            path));
  }
  ImportResult result;
  result.inputs = {{path, 0, {}}};
  finish_edge_index(array, nullptr, -1, request, result);
  return result;
}

}  // namespace csrkit
