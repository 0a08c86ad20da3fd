// The Open Graph Benchmark: a folder, or the zip archive that holds it, in the layouts that the ogb
// package reads (ogb/io/read_graph_raw.py of version 1.3.6).
//   tables         raw/edge.csv.gz, num-node-list.csv.gz, num-edge-list.csv.gz; perhaps edge_weight
//   binary         raw/data.npz: edge_index, num_nodes_list, num_edges_list; perhaps edge_weight
//   heterogeneous  raw/triplet-type-list.csv.gz, num-node-dict.csv.gz, relations/<...>/edge.csv.gz
// The number of nodes comes from its table, because there are isolated nodes. Data sets of many
// graphs become one block-diagonal matrix. Some data sets store each edge once; like the loader we
// then add the reverse, of edges between two nodes.
#include <algorithm>
#include <limits>

#include "core/base/text.h"
#include "preprocess/import/numpy/npz_archive.h"
#include "preprocess/import/ogb/datasets.h"
#include "preprocess/import/ogb/relations.h"
#include "preprocess/import/ogb/tables.h"
#include "preprocess/import/source/line_reader.h"

namespace csrkit {

namespace {

bool wants_inverse(const OgbFiles& files, const ReadRequest& request) {
  if (request.parameters.is_set("add-inverse")) {
    return request.parameters.text("add-inverse") == "true";
  }
  const OgbDataset* dataset = find_ogb_dataset(files.dataset());
  if (dataset != nullptr) return dataset->adds_inverse;
  throw UsageError(files.where() + ": whether '" + files.dataset() +
                   "' stores every edge in one direction only is not known; say " +
                   "--add-inverse=true (undirected graph) or --add-inverse=false (as stored)");
}

void note_graphs(const std::vector<Offset>& nodes, ImportResult& result) {
  Offset sum = 0;
  for (const Offset count : nodes) sum += count;
  result.notes["nodes"] = std::to_string(sum);
  if (nodes.size() == 1) return;
  result.notes["graphs"] = std::to_string(nodes.size()) + ", a diagonal block each";
}

CooMatrix read_tables(const OgbFiles& files, const ReadRequest& request, ImportResult& result) {
  const std::vector<Offset> nodes = read_counts(files, "num-node-list", request.limits);
  total_nodes(nodes, files.table_path("num-node-list"));
  std::vector<Offset> edges;
  Offset edges_of_all = -1;
  // Without the second table, one graph has all edges.
  if (files.has_table("num-edge-list") || nodes.size() > 1) {
    edges = read_counts(files, "num-edge-list", request.limits);
    edges_of_all = 0;
    for (const Offset count : edges) {
      if (__builtin_add_overflow(edges_of_all, count, &edges_of_all)) {
        edges_of_all = std::numeric_limits<Offset>::max();
      }
    }
  }
  const auto most = static_cast<Index>(*std::max_element(nodes.begin(), nodes.end()));
  CooMatrix coo = read_edge_table(files, "edge", most, most, edges_of_all, request, result);
  result.inputs.push_back({files.table_path("num-node-list"), 0, {}});
  if (edges.empty()) edges = {coo.nnz()};
  if (files.has_table("num-edge-list")) {
    result.inputs.push_back({files.table_path("num-edge-list"), 0, {}});
  }
  stack_graphs(nodes, edges, files.table_path("edge"), coo);
  if (files.has_table("edge_weight") && request.value_kind != name_of(ValueKind::none)) {
    coo.values = read_weight_table(files, coo.nnz(), request, result);
    result.notes["values"] = "edge_weight";
  }
  note_graphs(nodes, result);
  return coo;
}

std::vector<Offset> counts_in(const NpzArchive& archive, const std::string& name) {
  const NpyArray array = archive.read(name);
  const Buffer<Offset> counts = array.to_offsets();
  if (counts.size() == 0) {
    throw InputError(array.where() + ": byte 0: expected a graph, found none; fetch it again");
  }
  return {counts.begin(), counts.end()};
}

CooMatrix read_binary(const ArchivePlace& place, const ReadRequest& request, ImportResult& result) {
  const std::string path = place.name();
  result.inputs = {{place.file, 0, {}}};
  const NpzArchive archive(place, request.limits);
  for (const char* name : {"edge_index", "num_nodes_list", "num_edges_list"}) {
    if (archive.has(name)) continue;
    throw InputError(path + ": byte 0: expected an array called " + name +
                     ".npy, found none; is this a folder of the Open Graph Benchmark?");
  }
  const std::vector<Offset> nodes = counts_in(archive, "num_nodes_list");
  total_nodes(nodes, path + "(num_nodes_list.npy)");
  CooMatrix coo =
      archive.read("edge_index").to_edges(*std::max_element(nodes.begin(), nodes.end()));
  stack_graphs(nodes, counts_in(archive, "num_edges_list"), path + "(edge_index.npy)", coo);
  if (archive.has("edge_weight") && request.value_kind != name_of(ValueKind::none)) {
    const NpyArray weights = archive.read("edge_weight");
    weights.require_column(coo.nnz(), "edge");
    coo.values = weights.to_values();
    result.notes["values"] = "edge_weight";
  }
  note_graphs(nodes, result);
  return coo;
}

/// "train 90941, valid 29799, test 48603" for every split; files of other kinds by their name.
void note_splits(const OgbFiles& files, const SourceLimits& limits, ImportResult& result) {
  for (const std::string& file : files.splits()) {
    const std::size_t slash = file.rfind('/');
    if (slash == std::string::npos) continue;
    std::string part = file.substr(slash + 1);
    const std::size_t table = part.find(".csv");
    if (table != std::string::npos) {
      const std::unique_ptr<ByteSource> source = files.open_split(file, limits);
      LineReader lines(*source);
      std::uint64_t ids = 0;
      std::string_view block;
      while (lines.next_block(block)) ids += count_line_ends(block);
      part = part.substr(0, table) + " " + std::to_string(ids);
    }
    std::string& note = result.notes["split " + file.substr(0, slash)];
    append_item(note, part);
  }
}

}  // namespace

bool matches_ogb(const Peek& peek) {
  const bool may_be =
      peek.is_directory || peek.is_zip || peek.path.find("edge.csv") != std::string::npos;
  return may_be && OgbFiles::find(peek.path).has_value();
}

ImportResult read_ogb(const std::string& path, const ReadRequest& request) {
  const std::optional<OgbFiles> found = OgbFiles::find(path);
  if (!found) {
    throw InputError(path + ": byte 0: expected a folder or zip archive of the Open Graph " +
                     "Benchmark with raw/edge.csv.gz and raw/num-node-list.csv.gz, found neither");
  }
  const OgbFiles& files = *found;
  const std::optional<ArchivePlace> binary = files.binary();
  const std::string relation =
      files.relation().empty() ? request.parameters.text("relation") : files.relation();
  const bool is_heterogeneous = !binary && has_relations(files);
  if (relation != "auto" && !is_heterogeneous) {
    throw UsageError(files.where() + ": --relation is for data sets with several kinds of nodes, " +
                     "and this one has one");
  }
  const bool add_inverse = wants_inverse(files, request);
  ImportResult result;
  CooMatrix coo = binary             ? read_binary(*binary, request, result)
                  : is_heterogeneous ? read_relations(files, relation, request, result)
                                     : read_tables(files, request, result);
  if (add_inverse && coo.rows != coo.cols) {
    throw UsageError(files.where() + ": --add-inverse=true needs rows and columns of one kind of " +
                     "nodes; " + relation + " has two, so leave it out");
  }
  const auto has_same_path = [](const FileDigest& a, const FileDigest& b) {
    return a.path == b.path;
  };
  result.inputs.erase(std::unique(result.inputs.begin(), result.inputs.end(), has_same_path),
                      result.inputs.end());  // an archive, once for each table
  result.entries_read = coo.nnz();
  result.notes["dataset"] = files.dataset();
  result.notes["add-inverse"] = add_inverse ? "true" : "false";
  if (is_heterogeneous) result.notes["relation"] = relation;
  note_splits(files, request.limits, result);
  const Offset out_of_order = count_out_of_order(coo);  // of the file, not of the mirrored half
  if (add_inverse) result.entries_mirrored = append_mirrored(coo, false);
  finish_coo(std::move(coo), request, files.where(), result);
  result.repairs.out_of_order = out_of_order;
  return result;
}

}  // namespace csrkit
