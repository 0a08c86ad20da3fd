#include "preprocess/import/ogb/relations.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "preprocess/import/ogb/tables.h"
#include "preprocess/import/source/line_reader.h"
#include "preprocess/import/source/scan.h"

namespace csrkit {

namespace {

struct Relation {
  std::string head, name, tail;
  std::string id() const { return head + "___" + name + "___" + tail; }
};

std::vector<std::string> cells_of(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// A header of kinds, and one line of counts.
std::map<std::string, Index> read_kinds(const OgbFiles& files, const SourceLimits& limits) {
  const std::unique_ptr<ByteSource> source = files.open_table("num-node-dict", limits);
  LineReader lines(*source);
  std::string_view line;
  std::vector<std::string> names, counts;
  if (lines.next_line(line)) names = cells_of(line);
  if (lines.next_line(line)) counts = cells_of(line);
  if (names.size() != counts.size()) {
    lines.refuse(2, "expected " + std::to_string(names.size()) +
                        " counts of nodes, one for each kind, found " +
                        std::to_string(counts.size()) + "; fetch the file again");
  }
  if (lines.next_line(line) && !line.empty()) {
    lines.refuse(3,
                 "expected one heterogeneous graph, found another one; only data sets of a "
                 "single one become a matrix");
  }
  std::map<std::string, Index> kinds;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& count = counts[i];
    const bool is_number = !count.empty() && count.size() <= 18 &&
                           count.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) {
      lines.refuse(2, "expected a number of nodes, found " + scan::quote(count));
    }
    kinds[names[i]] = total_nodes({std::stoll(count)}, source->name());
  }
  return kinds;
}

std::vector<Relation> read_triplets(const OgbFiles& files,
                                    const std::map<std::string, Index>& kinds,
                                    const SourceLimits& limits) {
  const std::unique_ptr<ByteSource> source = files.open_table("triplet-type-list", limits);
  LineReader lines(*source);
  std::vector<Relation> relations;
  std::string_view line;
  while (lines.next_line(line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (cells.size() != 3) {
      lines.refuse(lines.line() - 1, "expected head,relation,tail, found " + scan::quote(line));
    }
    for (const std::string& kind : {cells[0], cells[2]}) {
      if (kinds.count(kind) > 0) continue;
      lines.refuse(lines.line() - 1,
                   "expected a kind of nodes of num-node-dict, found " + scan::quote(kind));
    }
    relations.push_back({cells[0], cells[1], cells[2]});
  }
  if (relations.empty()) lines.refuse(1, "expected a relation, found none; fetch the file again");
  std::sort(relations.begin(), relations.end(),
            [](const Relation& a, const Relation& b) { return a.id() < b.id(); });
  return relations;
}

CooMatrix read_relation(const OgbFiles& files, const Relation& relation,
                        const std::map<std::string, Index>& kinds, const ReadRequest& request,
                        ImportResult& result) {
  const std::string folder = "relations/" + relation.id() + "/";
  const std::vector<Offset> edges = read_counts(files, folder + "num-edge-list", request.limits);
  if (edges.size() != 1) {
    throw InputError(files.table_path(folder + "num-edge-list") +
                     ":2: expected one graph, found a second one");
  }
  return read_edge_table(files, folder + "edge", kinds.at(relation.head), kinds.at(relation.tail),
                         edges[0], request, result);
}

/// Appends with rows and columns shifted.
void append_block(CooMatrix& all, Offset& size, const CooMatrix& block, Index first_row,
                  Index first_col) {
#pragma omp parallel for schedule(static)
  for (Offset i = 0; i < block.nnz(); ++i) {
    all.row_indices[size + i] = block.row_indices[i] + first_row;
    all.col_indices[size + i] = block.col_indices[i] + first_col;
  }
  size += block.nnz();
}

CooMatrix read_all_relations(const OgbFiles& files, const std::vector<Relation>& relations,
                             const std::map<std::string, Index>& kinds, const ReadRequest& request,
                             ImportResult& result) {
  std::map<std::string, Index> first;
  std::vector<Offset> counts;
  std::string blocks;
  Offset nodes = 0;
  for (const auto& [kind, count] : kinds) {
    first[kind] = static_cast<Index>(nodes);
    append_item(blocks, kind + " from " + std::to_string(nodes));
    counts.push_back(count);
    nodes = total_nodes(counts, files.where());
  }
  result.notes["blocks"] = blocks;
  std::vector<CooMatrix> parts;
  Offset entries = 0;
  for (const Relation& relation : relations) {
    parts.push_back(read_relation(files, relation, kinds, request, result));
    entries += parts.back().nnz();
  }
  const auto size = static_cast<Index>(nodes);
  CooMatrix all{size, size, Buffer<Index>(entries), Buffer<Index>(entries),
                ValueArray(ValueKind::none, entries)};
  Offset at = 0;
  for (std::size_t i = 0; i < relations.size(); ++i) {
    append_block(all, at, parts[i], first[relations[i].head], first[relations[i].tail]);
    parts[i] = CooMatrix();
  }
  return all;
}

}  // namespace

bool has_relations(const OgbFiles& files) {
  return files.has_table("triplet-type-list") || files.has_table("num-node-dict");
}

CooMatrix read_relations(const OgbFiles& files, const std::string& wanted,
                         const ReadRequest& request, ImportResult& result) {
  const std::map<std::string, Index> kinds = read_kinds(files, request.limits);
  const std::vector<Relation> relations = read_triplets(files, kinds, request.limits);
  result.inputs.push_back({files.table_path("num-node-dict"), 0, {}});
  std::string nodes, found;
  for (const auto& [kind, count] : kinds) {
    append_item(nodes, kind + " " + std::to_string(count));
  }
  result.notes["nodes"] = nodes;
  if (wanted == "all") return read_all_relations(files, relations, kinds, request, result);
  for (const Relation& relation : relations) {
    if (relation.id() == wanted) return read_relation(files, relation, kinds, request, result);
    append_item(found, relation.id() + " (" + std::to_string(kinds.at(relation.head)) + " x " +
                           std::to_string(kinds.at(relation.tail)) + ")");
  }
  throw UsageError(files.where() + ": the data set has several kinds of nodes" +
                   (wanted == "auto" ? "" : " and no relation '" + wanted + "'") +
                   "; say --relation=all for one block matrix of everything, or one of " + found);
}

}  // namespace csrkit
