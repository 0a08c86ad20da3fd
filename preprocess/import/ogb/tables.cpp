#include "preprocess/import/ogb/tables.h"

#include <algorithm>

#include "preprocess/import/text/entry_lines.h"

namespace csrkit {

namespace {

void warn_of_end(const EntryLines& entries, const ByteSource& table, ImportResult& result) {
  if (entries.doubt_of_end.empty()) return;
  result.warnings.push_back(table.name() + ": " + entries.doubt_of_end);
}

}  // namespace

std::vector<Offset> read_counts(const OgbFiles& files, const std::string& table,
                                const SourceLimits& limits) {
  const std::unique_ptr<ByteSource> source = files.open_table(table, limits);
  LineReader lines(*source);
  std::vector<Offset> counts;
  std::string_view line;
  while (lines.next_line(line)) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.size() > 18 || line.find_first_not_of("0123456789") != std::string_view::npos) {
      lines.refuse(lines.line() - 1, "expected a number, found " + scan::quote(line));
    }
    counts.push_back(std::stoll(std::string(line)));
  }
  if (counts.empty()) {
    lines.refuse(1, "expected a number, found an empty file; fetch it again");
  }
  return counts;
}

Index total_nodes(const std::vector<Offset>& counts, const std::string& where) {
  Offset sum = 0;
  for (const Offset count : counts) {
    if (count > kMaxIndex || (sum += count) > kMaxIndex) {
      throw InputError(where + ": expected at most 2^31 - 1 nodes, found more; rows and columns " +
                       "are 32-bit numbers here");
    }
  }
  return static_cast<Index>(sum);
}

CooMatrix read_edge_table(const OgbFiles& files, const std::string& edge_table, Index rows,
                          Index cols, Offset edges, const ReadRequest& request,
                          ImportResult& result) {
  const std::unique_ptr<ByteSource> source = files.open_table(edge_table, request.limits);
  result.inputs.push_back({files.table_path(edge_table), 0, {}});
  if (rows == 0 || cols == 0) {  // to the parser, a limit of 0 is none
    if (edges > 0) {
      throw InputError(source->name() + ":1: expected nodes for " + std::to_string(edges) +
                       " edges, found 0 in the counts of nodes; fetch the files again");
    }
    return CooMatrix{rows, cols, Buffer<Index>(0), Buffer<Index>(0), ValueArray()};
  }
  EntryLineOptions lines;
  lines.row_limit = rows;
  lines.col_limit = cols;
  lines.value_columns = 0;
  lines.expected_entries = edges;
  lines.progress = request.progress;
  EntryLines entries = parse_entry_lines(*source, lines);
  warn_of_end(entries, *source, result);
  return std::move(entries.coo);
}

ValueArray read_weight_table(const OgbFiles& files, Offset edges, const ReadRequest& request,
                             ImportResult& result) {
  const std::unique_ptr<ByteSource> source = files.open_table("edge_weight", request.limits);
  result.inputs.push_back({files.table_path("edge_weight"), 0, {}});
  EntryLineOptions lines;
  lines.has_ids = false;
  lines.is_csv_like = false;
  lines.value_columns = 1;
  lines.value_kind = wanted_kind(request.value_kind, ValueKind::f64);
  lines.expected_entries = edges;
  EntryLines weights = parse_entry_lines(*source, lines);
  result.underflow = weights.underflow;
  warn_of_end(weights, *source, result);
  if (weights.underflow.count > 0) result.underflow.first += " of " + source->name();
  return std::move(weights.coo.values);
}

void stack_graphs(const std::vector<Offset>& nodes, const std::vector<Offset>& edges,
                  const std::string& where, CooMatrix& coo) {
  if (nodes.size() != edges.size()) {
    throw InputError(where + ": byte 0: expected as many counts of nodes as of edges, found " +
                     std::to_string(nodes.size()) + " and " + std::to_string(edges.size()) +
                     "; fetch the files again");
  }
  Offset sum = 0;
  for (const Offset count : edges) {
    if (count > coo.nnz() - sum) {
      sum = -1;
      break;
    }
    sum += count;
  }
  if (sum != coo.nnz()) {
    throw InputError(where + ": byte 0: expected " + std::to_string(coo.nnz()) +
                     " edges, found other counts for the graphs; fetch the files again");
  }
  Offset at = 0, first_node = 0;
  for (std::size_t graph = 0; graph < nodes.size(); ++graph) {
    for (const Offset end = at + edges[graph]; at < end; ++at) {
      Index &row = coo.row_indices[at], &col = coo.col_indices[at];
      if (std::max(row, col) >= nodes[graph]) {
        throw InputError(where + ": edge " + std::to_string(at) + ": expected a node below " +
                         std::to_string(nodes[graph]) + " in graph " + std::to_string(graph) +
                         ", found " + std::to_string(std::max(row, col)) +
                         "; fetch the files again");
      }
      row += static_cast<Index>(first_node);
      col += static_cast<Index>(first_node);
    }
    first_node += nodes[graph];
  }
  coo.rows = coo.cols = static_cast<Index>(first_node);
}

}  // namespace csrkit
