// METIS graphs: a header "vertices edges [format [constraints]]", then one line of neighbours per
// vertex, counted from 1. Vertex weights and sizes are skipped, edge weights become the values.
//
// The graph is undirected, so every edge stands in two lines. Their number must match the header,
// and the matrix must be symmetric, weights included. Blank lines are vertices without neighbours;
// so are lines missing at the end, if no edge is missing.
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/text.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/import/name_promise.h"
#include "preprocess/import/source/scan.h"
#include "preprocess/import/text/metis_lines.h"

namespace csrkit {

namespace {

/// Appends to an array that grows by half.
template <class T>
void append(Buffer<T>& array, Offset& size, const std::vector<T>& items) {
  const auto count = static_cast<Offset>(items.size());
  if (size + count > array.size()) {
    Buffer<T> larger(std::max(size + count, array.size() + array.size() / 2));
    if (size > 0)
      std::memcpy(larger.data(), array.data(), static_cast<std::size_t>(size) * sizeof(T));
    array = std::move(larger);
  }
  std::copy(items.begin(), items.end(), array.data() + size);
  size += count;
}

/// Reads as far as the header line, and refuses one that promises more than the file can hold.
MetisHeader read_header(LineReader& lines, const SourceLimits& limits, const std::string& path) {
  std::string_view line;
  do {
    if (!lines.next_line(line)) {
      lines.refuse(lines.line(), "expected a header line, found the end of the file");
    }
  } while (is_metis_comment(line) || line.find_first_not_of(" \t") == std::string_view::npos);
  MetisHeader header;
  const std::string fault = parse_metis_header(line, header);
  if (!fault.empty()) lines.refuse(lines.line() - 1, fault);
  const std::int64_t left = lines.bytes_left();
  // Every number takes a digit and a separator; the last line end may be missing.
  if (left >= 0 && header.edges > (left + 1) / 4) {
    lines.refuse(lines.line() - 1, "expected " + std::to_string(header.edges) +
                                       " edges as the header says, found " + counted(left, "byte") +
                                       " behind it, too few for that");
  }
  // Those without neighbours take a byte each, or none at the end of the file.
  if (left < header.vertices) {
    require_plausible_rows(header.vertices, 2 * header.edges, limits, path);
  }
  return header;
}

/// The numbers of the lines of some vertices, counted from 0, in ascending order. Nobody kept them:
/// the file is read once more.
std::vector<std::uint64_t> line_numbers_of(const std::vector<Index>& vertices,
                                           const std::string& path, const SourceLimits& limits) {
  const std::unique_ptr<ByteSource> source = open_file(path, limits);
  LineReader lines(*source);
  read_header(lines, limits, path);
  std::vector<std::uint64_t> numbers;
  std::string_view line;
  for (Index vertex = 0; numbers.size() < vertices.size() && lines.next_line(line);) {
    if (is_metis_comment(line)) continue;
    if (vertex++ == vertices[numbers.size()]) numbers.push_back(lines.line() - 1);
  }
  numbers.resize(vertices.size(), lines.line());  // a file that became shorter meanwhile
  return numbers;
}

[[noreturn]] void refuse_one_way(Index from, Index to, const std::string& path,
                                 const SourceLimits& limits) {
  const std::uint64_t line = line_numbers_of({from}, path, limits).front();
  throw InputError(path + ":" + std::to_string(line) +
                   ": expected every edge in the lines of both its vertices, found vertex " +
                   std::to_string(Offset{1} + to) + " as a neighbour of vertex " +
                   std::to_string(Offset{1} + from) +
                   " but not the other way round; METIS graphs are undirected, import directed "
                   "ones as an edge list");
}

/// `row` comes before `col`: the first difference stands above the diagonal.
[[noreturn]] void refuse_weights(Index row, Index col, double here, double there,
                                 const std::string& path, const SourceLimits& limits) {
  const std::vector<std::uint64_t> lines = line_numbers_of({row, col}, path, limits);
  const int digits = rounded(here) == rounded(there) ? 17 : 6;  // they must not look the same
  throw InputError(path + ":" + std::to_string(lines[0]) +
                   ": expected the same weight for an edge in the lines of both its vertices, "
                   "found " +
                   rounded(here, digits) + " from vertex " + std::to_string(Offset{1} + row) +
                   " to vertex " + std::to_string(Offset{1} + col) + " and " +
                   rounded(there, digits) + " back (line " + std::to_string(lines[1]) +
                   "); give both the same one, or import a directed graph as an edge list");
}

/// Refuses the first place in which a matrix differs from its transpose.
[[noreturn]] void refuse_asymmetry(const CsrMatrix& matrix, const CsrMatrix& mirror,
                                   const std::string& path, const SourceLimits& limits) {
  const Index *cols = matrix.col_indices(), *mirror_cols = mirror.col_indices();
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Offset begin = matrix.row_offsets()[row], end = matrix.row_offsets()[row + 1];
    const Offset mirror_begin = mirror.row_offsets()[row],
                 mirror_end = mirror.row_offsets()[row + 1];
    for (Offset at = 0; at < std::max(end - begin, mirror_end - mirror_begin); ++at) {
      const Offset here = begin + at, there = mirror_begin + at;
      const bool has_here = here < end, has_there = there < mirror_end;
      if (has_here && has_there && cols[here] == mirror_cols[there]) continue;
      const bool here_is_extra = has_here && (!has_there || cols[here] < mirror_cols[there]);
      if (here_is_extra) refuse_one_way(row, cols[here], path, limits);
      refuse_one_way(mirror_cols[there], row, path, limits);
    }
  }
  // The patterns are the same, so that an entry and its mirror have one position.
  const std::size_t bytes = size_of(matrix.value_kind());
  const auto *values = static_cast<const std::byte*>(matrix.values()),
             *mirrored = static_cast<const std::byte*>(mirror.values());
  Offset at = 0;
  while (std::memcmp(values + at * bytes, mirrored + at * bytes, bytes) == 0) ++at;
  const Offset* const offsets = matrix.row_offsets();
  const auto row =
      static_cast<Index>(std::upper_bound(offsets, offsets + matrix.rows() + 1, at) - offsets - 1);
  const auto value = [at](const CsrMatrix& of) {
    return of.visit([at](const auto& view) { return view.template value_as<double>(at); });
  };
  refuse_weights(row, cols[at], value(matrix), value(mirror), path, limits);
}

/// The lines of vertices, all threads reading a block at a time.
class VertexLines {
 public:
  VertexLines(LineReader& lines, const MetisHeader& header, const std::string& path)
      : lines_(lines), header_(header), path_(path) {}

  Buffer<Index> neighbours;
  Buffer<double> weights;  // of the edges, if they have any
  std::vector<Offset> degrees;
  Offset entries = 0;
  Underflow underflow;

  void read(const ProgressCallback& progress) {
    std::string_view block;
    std::vector<TextPiece> cuts;
    while (lines_.next_block(block)) {
      const std::uint64_t block_lines = cut_into_pieces(block, usual_pieces(), cuts);
      for (const VertexPiece& piece : parsed(cuts)) take(piece);
      lines_.count_lines(block_lines);
      if (progress) progress("reading", lines_.bytes_done(), lines_.bytes_total());
    }
    neighbours.truncate(entries);
    weights.truncate(weights_read_);
  }

 private:
  std::vector<VertexPiece> parsed(const std::vector<TextPiece>& cuts) const {
    std::vector<VertexPiece> pieces(cuts.size());
    const auto count = static_cast<int>(pieces.size());
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
    for (int i = 0; i < count; ++i) {
      pieces[i].text = cuts[i];
      pieces[i].vertices = count_metis_vertices(cuts[i].text);
    }
    auto vertex = static_cast<Offset>(degrees.size());
    for (VertexPiece& piece : pieces) {
      piece.first_vertex = vertex;
      vertex += piece.vertices;
    }
    bool out_of_memory = false;
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
    for (int i = 0; i < count; ++i) {
      try {
        parse_metis_piece(header_, pieces[i]);
      } catch (const std::exception&) {
#pragma omp atomic write
        out_of_memory = true;
      }
    }
    if (out_of_memory) throw MemoryError(path_ + ": not enough memory to read the graph");
    return pieces;
  }

  /// Appends what the piece holds; refuses its fault.
  void take(const VertexPiece& piece) {
    if (!piece.fault.empty()) lines_.refuse_at(piece.text, piece.fault_at, piece.fault);
    if (piece.underflows > 0 && underflow.count == 0) {
      underflow.first = scan::quote_word(piece.first_underflow) + " in line " +
                        std::to_string(lines_.line_of(piece.text, piece.first_underflow));
    }
    underflow.count += piece.underflows;
    append(neighbours, entries, piece.neighbours);
    append(weights, weights_read_, piece.weights);
    degrees.insert(degrees.end(), piece.degrees.begin(), piece.degrees.end());
  }

  LineReader& lines_;
  const MetisHeader& header_;
  const std::string& path_;
  Offset weights_read_ = 0;
};

std::vector<std::string_view> lines_of(const Peek& peek) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < peek.head.size();) {
    const std::size_t end = peek.head.find('\n', at);
    if (end == std::string_view::npos) {
      if (peek.head_is_whole) lines.push_back(peek.head.substr(at));
      break;
    }
    lines.push_back(peek.head.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

bool matches_metis_graph(const Peek& peek) {
  if (peek.is_directory || peek.is_tar || peek.is_zip) return false;
  // What is called a graph may do what would be too weak a sign without the name: have real
  // weights, no lines for the last vertices, or two neighbours in every line, as a ring.
  const bool is_named_so = promises(peek.path, "metis-graph");
  MetisHeader header;
  bool has_header = false, all_lines_alike = true, has_real_weights = false;
  std::size_t columns = 0;
  Offset vertices = 0, numbers_seen = 0;
  for (const std::string_view line : lines_of(peek)) {
    if (is_metis_comment(line)) continue;
    bool is_sound = false;
    const auto numbers = metis_numbers(line, is_sound);
    if (!has_header) {
      if (numbers.empty() && is_sound) continue;
      if (!parse_metis_header(line, header).empty()) return false;
      has_header = true;
      columns = numbers.size();
      continue;
    }
    all_lines_alike = all_lines_alike && numbers.size() == columns;
    if (!is_sound) {
      if (!is_named_so || !header.has_edge_weights) return false;
      has_real_weights = true;
    }
    if (vertices == header.vertices) {
      if (!numbers.empty()) return false;
      continue;
    }
    ++vertices;
    numbers_seen += static_cast<Offset>(numbers.size());
    const bool only_neighbours =
        !header.has_edge_weights && header.numbers_before_neighbours() == 0;
    if (!only_neighbours) continue;
    for (const std::uint64_t id : numbers) {
      if (id < 1 || id > static_cast<std::uint64_t>(header.vertices)) return false;
    }
  }
  if (!has_header) return false;
  if (peek.head_is_whole) {
    // The counts of the header are a strong sign: an edge list would have to meet both by chance.
    const Offset per_edge = header.has_edge_weights ? 4 : 2;
    const Offset expected = header.edges * per_edge + vertices * header.numbers_before_neighbours();
    if (is_named_so) return has_real_weights || numbers_seen == expected;
    return vertices == header.vertices && vertices > 0 && numbers_seen == expected;
  }
  // Every line with as many numbers as the first one: an edge list.
  return is_named_so || !(all_lines_alike && (columns == 2 || columns == 3));
}

ImportResult read_metis_graph(const std::string& path, const ReadRequest& request) {
  ImportResult result;
  result.inputs.push_back({path, 0, {}});
  const std::unique_ptr<ByteSource> source = open_file(path, request.limits);
  LineReader lines(*source);
  const MetisHeader header = read_header(lines, request.limits, path);
  VertexLines vertices(lines, header, path);
  vertices.read(request.progress);
  if (vertices.entries != 2 * header.edges) {
    lines.refuse(lines.line(), "expected every one of the " + std::to_string(header.edges) +
                                   " edges of the header twice, found " +
                                   counted(vertices.entries, "neighbour") +
                                   " in all; the file is cut short or its header is wrong");
  }
  const auto found = static_cast<Offset>(vertices.degrees.size());
  if (found < header.vertices) {
    result.notes["missing lines"] = std::to_string(header.vertices - found) +
                                    " vertices at the end have no line and so no neighbours";
  }
  result.entries_read = vertices.entries;
  result.underflow = vertices.underflow;
  const auto rows = static_cast<Index>(header.vertices);
  Buffer<Offset> row_offsets(header.vertices + 1);
  row_offsets[0] = 0;
  for (Index row = 0; row < rows; ++row) {
    row_offsets[row + 1] = row_offsets[row] + (row < found ? vertices.degrees[row] : 0);
  }
  vertices.degrees = {};
  ValueArray values(ValueKind::none, vertices.entries);
  if (header.has_edge_weights) values = ValueArray::from(std::move(vertices.weights));
  finish_csr(
      {rows, rows, std::move(row_offsets), std::move(vertices.neighbours), std::move(values)},
      request, path, result);

  const CsrMatrix mirror = transpose(result.matrix);
  if (!identical(result.matrix, mirror))
    refuse_asymmetry(result.matrix, mirror, path, request.limits);
  result.is_symmetric_by_format = true;
  return result;
}

}  // namespace csrkit
