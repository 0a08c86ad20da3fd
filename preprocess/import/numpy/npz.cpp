// NumPy archives that hold one sparse matrix:
//   SciPy save_npz      format, shape, data, and indices + indptr (csr, csc) or row + col (coo)
//   GNN benchmarks      the same arrays of a CSR matrix, called adj_data, adj_indices, ...
//   edge arrays src_li, dst_li, num_nodes: a pattern; or edge_index, perhaps with num_nodes and
//                       edge_weight
#include <algorithm>

#include "core/base/text.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/import/numpy/edge_index.h"

namespace csrkit {

namespace {

struct Shape {
  Index rows, cols;
};

Shape read_shape(const NpzArchive& archive, const std::string& name) {
  const NpyArray array = archive.read(name);
  array.require_vector();
  if (array.size() != 2) {  // SciPy's sparse arrays have any number of dimensions
    throw InputError(array.where() + ": byte 0: expected a matrix of two dimensions, found " +
                     std::to_string(array.size()) +
                     "; reshape it in SciPy, array.reshape((1, -1)) makes it a row");
  }
  const Buffer<Index> sizes = array.to_indices(kMaxIndex + 1);
  return {sizes[0], sizes[1]};
}

void require_arrays(const NpzArchive& archive, std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    if (archive.has(name)) continue;
    throw InputError(archive.path() + ": byte 0: expected an array called " + name +
                     ".npy, found none; was the archive written completely?");
  }
}

ValueArray read_values(const NpzArchive& archive, const std::string& name, Offset entries,
                       const ReadRequest& request) {
  if (request.value_kind == name_of(ValueKind::none)) return ValueArray(ValueKind::none, entries);
  const NpyArray array = archive.read(name);
  array.require_vector(entries);
  return array.to_values();
}

/// Arrays of CSR, or of CSC, whose names begin with `prefix`.
void read_compressed(const NpzArchive& archive, const std::string& prefix, bool is_by_column,
                     const ReadRequest& request, ImportResult& result) {
  require_arrays(archive,
                 {prefix + "data", prefix + "indices", prefix + "indptr", prefix + "shape"});
  const Shape shape = read_shape(archive, prefix + "shape");
  const Index groups = is_by_column ? shape.cols : shape.rows;
  const Index others = is_by_column ? shape.rows : shape.cols;
  const NpyArray offsets_array = archive.read(prefix + "indptr");
  offsets_array.require_vector(Offset{groups} + 1);
  Buffer<Offset> offsets = offsets_array.to_offsets();
  Buffer<Index> indices;
  {
    const NpyArray array = archive.read(prefix + "indices");
    array.require_vector();
    indices = array.to_indices(others);
  }
  ValueArray values = read_values(archive, prefix + "data", indices.size(), request);
  // SciPy lets arrays be longer than the matrix needs.
  const Offset nnz = offsets[groups];
  if (nnz < indices.size()) {
    indices.truncate(nnz);
    values.truncate(nnz);
  }
  result.entries_read = indices.size();
  // Columns have an offset each in the file, rows do not.
  if (is_by_column) require_plausible_rows(shape.rows, nnz, request.limits, archive.path());
  const auto finish = is_by_column ? &finish_csc : &finish_csr;
  finish({groups, others, std::move(offsets), std::move(indices), std::move(values)}, request,
         archive.path(), result);
}

/// Ids below `limit`, as many as there are if `length` is -1.
Buffer<Index> read_id_array(const NpzArchive& archive, const char* name, Offset limit,
                            Offset length = -1) {
  const NpyArray array = archive.read(name);
  array.require_vector(length);
  return array.to_indices(limit);
}

void read_coordinates(const NpzArchive& archive, const ReadRequest& request, ImportResult& result) {
  require_arrays(archive, {"data", "shape"});
  const Shape shape = read_shape(archive, "shape");
  require_arrays(archive, {"row", "col"});
  CooMatrix coo;
  coo.rows = shape.rows;
  coo.cols = shape.cols;
  coo.row_indices = read_id_array(archive, "row", shape.rows);
  coo.col_indices = read_id_array(archive, "col", shape.cols, coo.nnz());
  coo.values = read_values(archive, "data", coo.nnz(), request);
  result.entries_read = coo.nnz();
  finish_coo(std::move(coo), request, archive.path(), result);
}

/// A number on its own, or the only element of an array; -1 if there is no such array.
Offset read_node_count(const NpzArchive& archive, const std::string& name) {
  if (!archive.has(name)) return -1;
  const NpyArray array = archive.read(name);
  const Buffer<Index> nodes = array.to_indices(kMaxIndex + 1);
  if (nodes.size() == 1) return nodes[0];
  throw InputError(array.where() + ": byte 0: expected one number, found " +
                   std::to_string(nodes.size()) + "; fetch the file again");
}

void read_edge_arrays(const NpzArchive& archive, const ReadRequest& request, ImportResult& result) {
  require_arrays(archive, {"src_li", "dst_li", "num_nodes"});
  CooMatrix coo;
  coo.rows = coo.cols = static_cast<Index>(read_node_count(archive, "num_nodes"));
  coo.row_indices = read_id_array(archive, "src_li", coo.rows);
  coo.col_indices = read_id_array(archive, "dst_li", coo.cols, coo.nnz());
  coo.values = ValueArray(ValueKind::none, coo.nnz());
  result.entries_read = coo.nnz();
  finish_coo(std::move(coo), request, archive.path(), result);
}

void read_edge_index_arrays(const NpzArchive& archive, const ReadRequest& request,
                            ImportResult& result) {
  const NpyArray edges = archive.read("edge_index");
  const bool has_weights = archive.has("edge_weight");
  if (!has_weights) {
    if (archive.has("edge_attr")) {
      result.warnings.push_back(
          "edge_attr is left out; one number for each edge becomes the values if its array is "
          "called edge_weight");
    }
    return finish_edge_index(edges, nullptr, read_node_count(archive, "num_nodes"), request,
                             result);
  }
  const NpyArray weights = archive.read("edge_weight");
  finish_edge_index(edges, &weights, read_node_count(archive, "num_nodes"), request, result);
}

[[noreturn]] void refuse_unknown(const NpzArchive& archive) {
  std::string found;
  for (const std::string& name : archive.names()) {
    archive.read_header(name);  // an array of Python objects is the better explanation
    if (found.size() < 200) append_item(found, name);
  }
  throw InputError(archive.path() + ": byte 0: expected the arrays of a sparse matrix (indices, " +
                   "indptr, data, shape, or row, col, data, shape) or an edge_index, found " +
                   (found.empty() ? "none" : found) +
                   "; store the matrix with scipy.sparse.save_npz");
}

void read_archive(const NpzArchive& archive, const ReadRequest& request, ImportResult& result) {
  const bool lacks_size = archive.has("edge_index") && !archive.has("num_nodes");
  if (!lacks_size && (request.parameters.is_set("rows") || request.parameters.is_set("cols"))) {
    request.parameters.refuse_all("rows and cols are for an edge_index without num_nodes; this " +
                                  std::string("archive says its size, leave them out"));
  }
  if (archive.has("adj_indptr")) {
    result.notes["layout"] = "adj_* arrays of a CSR matrix";
    return read_compressed(archive, "adj_", false, request, result);
  }
  std::string layout = archive.has("indptr") ? "csr" : archive.has("row") ? "coo" : "";
  if (archive.has("format")) layout = archive.read("format").to_text();
  if (!layout.empty()) {
    result.notes["layout"] = "SciPy " + layout;
    if (layout == "csr") return read_compressed(archive, "", false, request, result);
    if (layout == "csc") return read_compressed(archive, "", true, request, result);
    if (layout == "coo") return read_coordinates(archive, request, result);
    throw InputError(archive.path() + "(format.npy): byte 0: expected csr, csc or coo, found '" +
                     layout + "'; store matrix.tocsr() with scipy.sparse.save_npz");
  }
  if (archive.has("src_li")) {
    result.notes["layout"] = "edge arrays src_li and dst_li";
    return read_edge_arrays(archive, request, result);
  }
  if (archive.has("edge_index")) {
    result.notes["layout"] = "edge_index";
    return read_edge_index_arrays(archive, request, result);
  }
  refuse_unknown(archive);
}

}  // namespace

bool matches_npz(const Peek& peek) {
  return peek.is_zip && std::any_of(peek.members.begin(), peek.members.end(), [](const auto& name) {
           return name.size() > 4 && ends_with(name, ".npy");
         });
}

ImportResult read_npz(const std::string& path, const ReadRequest& request) {
  ImportResult result;
  result.inputs = {{path, 0, {}}};
  read_archive(NpzArchive(path, request.limits), request, result);
  return result;
}

}  // namespace csrkit
