// Folders of the Open Graph Benchmark: the folder in the archive, under its own name or the one
// that the loader gives it, or its raw/. The number of nodes comes from num-node-list, because
// there are isolated nodes. Undirected datasets store each edge once; like the loader we add the
// reverse.
#include <algorithm>
#include <filesystem>

#include "preprocess/import/entry_lines.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/import/npz_archive.h"

namespace csrkit {

namespace {

namespace fs = std::filesystem;

struct Dataset {
  const char* name;  // without ogbn_ or ogbl_
  bool adds_inverse;
};
constexpr Dataset kDatasets[] = {
    {"proteins", true},     {"products", true}, {"ppa", true},        {"ppassoc", true},
    {"collab", true},       {"ddi", true},      {"arxiv", false},     {"citation2", false},
    {"citation_v2", false}, {"wikikg2", false}, {"wikikg_v2", false},
};

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// `<folder>/<name>.csv.gz`, or unpacked; "" if there is neither.
fs::path find_table(const fs::path& folder, const std::string& name) {
  for (const char* suffix : {".csv.gz", ".csv"}) {
    fs::path path = folder / (name + suffix);
    if (is_file(path)) return path;
  }
  return {};
}

bool holds_graph(const fs::path& folder) {
  return !find_table(folder, "num-node-list").empty() || is_file(folder / "data.npz") ||
         !find_table(folder, "triplet-type-list").empty();
}

/// The folder with the files, "" if there is none.
fs::path find_raw(const fs::path& path) {
  if (holds_graph(path / "raw")) return path / "raw";
  return holds_graph(path) ? path : fs::path();
}

/// "ogbl-citation2" or ".../citation-v2/raw" -> "citation2", "citation_v2".
std::string dataset_name(const fs::path& raw) {
  std::error_code failed;
  fs::path folder = fs::canonical(raw, failed);
  if (failed) folder = raw;
  if (folder.filename() == "raw") folder = folder.parent_path();
  std::string name = folder.filename().string();
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const char* prefix : {"ogbn_", "ogbl_"}) {
    if (name.compare(0, 5, prefix) == 0) name.erase(0, 5);
  }
  return name;
}

bool wants_inverse(const fs::path& raw, const ReadRequest& request) {
  if (request.parameters.is_set("add-inverse")) {
    return request.parameters.text("add-inverse") == "true";
  }
  const std::string name = dataset_name(raw);
  for (const Dataset& dataset : kDatasets) {
    if (name == dataset.name) return dataset.adds_inverse;
  }
  throw UsageError(raw.string() + ": whether '" + name +
                   "' stores every edge in one direction only is not known; say " +
                   "--add-inverse=true (undirected graph) or --add-inverse=false (as stored)");
}

/// The only number in a table of one number per graph.
Offset read_count(const fs::path& path, const SourceLimits& limits) {
  const std::unique_ptr<ByteSource> source = open_file(path.string(), limits);
  const Buffer<char> bytes = read_all(*source, 1 << 20);
  Offset count = -1;
  std::uint64_t line = 0;
  for (Offset at = 0; at < bytes.size(); ++line) {
    Offset end = std::find(bytes.begin() + at, bytes.end(), '\n') - bytes.begin();
    std::string text(bytes.begin() + at, bytes.begin() + end);
    at = end + 1;
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
    if (text.empty()) continue;
    const bool is_number =
        text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || count >= 0) {
      throw InputError(path.string() + ":" + std::to_string(line + 1) + ": expected " +
                       (is_number ? "one graph" : "a number") + ", found " +
                       (is_number ? "a second one" : "'" + text.substr(0, 40) + "'") +
                       "; only datasets of a single graph become a matrix");
    }
    count = std::stoll(text);
  }
  if (count < 0) {
    throw InputError(path.string() + ":1: expected a number, found an empty file; fetch it again");
  }
  return count;
}

Index checked_nodes(Offset nodes, const std::string& where) {
  if (nodes <= kMaxIndex) return static_cast<Index>(nodes);
  throw InputError(where + ": expected at most 2^31 - 1 nodes, found " + std::to_string(nodes));
}

CooMatrix read_tables(const fs::path& raw, const ReadRequest& request, ImportResult& result) {
  const fs::path nodes_path = find_table(raw, "num-node-list");
  const fs::path edges_path = find_table(raw, "num-edge-list");
  const fs::path edge_path = find_table(raw, "edge");
  if (edge_path.empty()) {
    throw InputError(raw.string() + ": byte 0: expected edge.csv.gz beside num-node-list, found " +
                     "none; was the archive unpacked completely?");
  }
  result.inputs = {{edge_path.string(), 0, {}}, {nodes_path.string(), 0, {}}};
  EntryLineOptions lines;
  lines.row_limit = lines.col_limit =
      checked_nodes(read_count(nodes_path, request.limits), nodes_path.string());
  lines.value_columns = 0;
  lines.progress = request.progress;
  if (!edges_path.empty()) {
    result.inputs.push_back({edges_path.string(), 0, {}});
    lines.expected_entries = read_count(edges_path, request.limits);
  }
  if (lines.row_limit == 0) {  // to the parser, a limit of 0 is none
    if (lines.expected_entries > 0) {
      throw InputError(nodes_path.string() + ":1: expected nodes for " +
                       std::to_string(lines.expected_entries) + " edges, found 0");
    }
    return CooMatrix{0, 0, Buffer<Index>(0), Buffer<Index>(0), ValueArray()};
  }
  const std::unique_ptr<ByteSource> source = open_file(edge_path.string(), request.limits);
  return std::move(parse_entry_lines(*source, lines).coo);
}

CooMatrix read_binary(const fs::path& path, const ReadRequest& request, ImportResult& result) {
  result.inputs = {{path.string(), 0, {}}};
  const NpzArchive archive(path.string(), request.limits);
  for (const char* name : {"edge_index", "num_nodes_list"}) {
    if (archive.has(name)) continue;
    throw InputError(path.string() + ": byte 0: expected an array called " + name +
                     ".npy, found none; is this a folder of the Open Graph Benchmark?");
  }
  const Buffer<Index> nodes = archive.read("num_nodes_list").to_indices(kMaxIndex + 1);
  if (nodes.size() != 1) {
    throw InputError(path.string() + "(num_nodes_list.npy): byte 0: expected one graph, found " +
                     std::to_string(nodes.size()) +
                     "; only datasets of a single graph become a matrix");
  }
  const NpyArray edges = archive.read("edge_index");
  const NpyHeader& header = edges.header();
  if (header.shape.size() != 2 || header.shape[0] != 2) {
    throw InputError(edges.where() + ": byte 0: expected an array of 2 rows, sources and targets");
  }
  const Offset count = header.shape[1];
  if (archive.has("num_edges_list")) {
    const Buffer<Offset> claimed = archive.read("num_edges_list").to_offsets();
    if (claimed.size() != 1 || claimed[0] != count) {
      throw InputError(edges.where() + ": byte 0: expected as many edges as num_edges_list says, " +
                       "found " + std::to_string(count) + "; fetch the file again");
    }
  }
  const Buffer<Index> ids = edges.to_indices(nodes[0]);
  const Offset step = header.is_fortran_order ? 2 : 1;
  const Offset targets = header.is_fortran_order ? 1 : count;
  CooMatrix coo{nodes[0], nodes[0], Buffer<Index>(count), Buffer<Index>(count),
                ValueArray(ValueKind::none, count)};
#pragma omp parallel for schedule(static)
  for (Offset i = 0; i < count; ++i) {
    coo.row_indices[i] = ids[i * step];
    coo.col_indices[i] = ids[targets + i * step];
  }
  return coo;
}

}  // namespace

bool matches_ogb(const Peek& peek) { return peek.is_directory && !find_raw(peek.path).empty(); }

ImportResult read_ogb(const std::string& path, const ReadRequest& request) {
  const fs::path raw = find_raw(path);
  if (raw.empty()) {
    throw InputError(path + ": byte 0: expected a folder of the Open Graph Benchmark with " +
                     "raw/edge.csv.gz and raw/num-node-list.csv.gz, found neither");
  }
  if (!find_table(raw, "triplet-type-list").empty()) {
    throw InputError(raw.string() + ": byte 0: expected one kind of nodes, found a heterogeneous " +
                     "dataset; import the edge list of one relation: relations/<...>/edge.csv.gz");
  }
  const bool add_inverse = wants_inverse(raw, request);
  ImportResult result;
  CooMatrix coo = is_file(raw / "data.npz") ? read_binary(raw / "data.npz", request, result)
                                            : read_tables(raw, request, result);
  result.entries_read = coo.nnz();
  result.notes["dataset"] = dataset_name(raw);
  result.notes["add-inverse"] = add_inverse ? "true" : "false";
  const Offset out_of_order = count_out_of_order(coo);  // of the file, not of the mirrored half
  if (add_inverse) result.entries_mirrored = append_mirrored(coo, false);
  finish_coo(std::move(coo), request, raw.string(), result);
  result.repairs.out_of_order = out_of_order;
  return result;
}

}  // namespace csrkit
