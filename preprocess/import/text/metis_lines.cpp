#include "preprocess/import/text/metis_lines.h"

#include <cstring>

#include "core/base/counted.h"
#include "preprocess/import/source/scan.h"

namespace csrkit {

std::vector<std::uint64_t> metis_numbers(std::string_view line, bool& is_sound) {
  std::vector<std::uint64_t> numbers;
  const std::string text = std::string(line) + "\n";
  const char* at = text.data();
  is_sound = true;
  for (;;) {
    at = scan::skip_blanks(at);
    if (*at == '\n' || (*at == '\r' && at[1] == '\n')) return numbers;
    std::uint64_t number = 0;
    if (!scan::read_digits(at, number) ||
        (!scan::is_blank(*at) && *at != '\n' && !(*at == '\r' && at[1] == '\n'))) {
      is_sound = false;
      return numbers;
    }
    numbers.push_back(number);
  }
}

std::string parse_metis_header(std::string_view line, MetisHeader& header) {
  bool is_sound = false;
  const std::vector<std::uint64_t> numbers = metis_numbers(line, is_sound);
  if (!is_sound || numbers.size() < 2 || numbers.size() > 4) {
    return "expected \"vertices edges [format [constraints]]\", found " + scan::quote(line);
  }
  if (numbers[0] > static_cast<std::uint64_t>(kMaxIndex)) {
    return "expected at most 2147483647 vertices, found " + std::to_string(numbers[0]);
  }
  header.vertices = static_cast<Offset>(numbers[0]);
  header.edges = static_cast<Offset>(numbers[1]);
  const std::uint64_t format = numbers.size() > 2 ? numbers[2] : 0;
  if (format > 111 || format % 10 > 1 || format / 10 % 10 > 1) {
    return "expected a format of three digits 0 or 1, found " + std::to_string(format);
  }
  header.has_edge_weights = format % 10 == 1;
  header.has_sizes = format / 100 == 1;
  const bool has_vertex_weights = format / 10 % 10 == 1;
  const std::uint64_t constraints = numbers.size() > 3 ? numbers[3] : 1;
  if (constraints > 1000) {
    return "expected at most 1000 weights per vertex, found " + std::to_string(constraints);
  }
  header.vertex_weights = has_vertex_weights ? static_cast<Offset>(constraints) : 0;
  return {};
}

bool is_metis_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '%';
}

Offset count_metis_vertices(std::string_view text) {
  Offset count = 0;
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
    count += *scan::skip_blanks(at) != '%';
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
  }
  return count;
}

namespace {

/// Reads the lines of a piece. Every step is false where something is wrong, which the piece has.
struct VertexReader {
  const MetisHeader& header;
  VertexPiece& piece;
  const char* at;
  const char* const end;
  Offset vertex;  // from 0

  bool ends_line() const { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }
  void go_to_next_line() { at += *at == '\r' ? 2 : 1; }
  std::string of_vertex() const { return " of vertex " + std::to_string(vertex + 1); }

  bool fail(const char* place, std::string message) {
    piece.fault = std::move(message);
    piece.fault_at = place;
    return false;
  }

  // METIS itself knows whole numbers as weights only; other programs write real ones.
  bool read_weight(const char* whose, double& weight) {
    const char* const word = at;
    if (scan::read_real(at, end, weight) && (scan::is_blank(*at) || ends_line())) return true;
    return fail(
        word, std::string("expected ") + whose + of_vertex() + ", found " + scan::quote_word(word));
  }

  /// Sizes and weights of the vertex, which nothing here uses.
  bool skip_own_numbers() {
    if (ends_line()) return true;
    for (Offset i = 0; i < header.numbers_before_neighbours(); ++i) {
      double ignored;
      at = scan::skip_blanks(at);
      if (!read_weight("a weight", ignored)) return false;
    }
    return true;
  }

  bool read_neighbour() {
    const char* const word = at;
    std::uint64_t id = 0;
    if (!scan::read_digits(at, id) || (!scan::is_blank(*at) && !ends_line()) || id < 1 ||
        id > static_cast<std::uint64_t>(header.vertices)) {
      return fail(word, "expected a neighbour" + of_vertex() + " from 1 to " +
                            std::to_string(header.vertices) + ", found " + scan::quote_word(word));
    }
    if (static_cast<Offset>(id) == vertex + 1) {
      return fail(word, "expected neighbours" + of_vertex() +
                            " other than itself, METIS graphs have no loops; remove the loop, or "
                            "import the graph in another format");
    }
    piece.neighbours.push_back(static_cast<Index>(id - 1));
    return !header.has_edge_weights || read_edge_weight();
  }

  bool read_edge_weight() {
    at = scan::skip_blanks(at);
    const char* const word = at;
    double weight;
    if (!read_weight("an edge's weight", weight)) return false;
    if (weight == 0 && !scan::is_written_zero(word, at) && piece.underflows++ == 0) {
      piece.first_underflow = word;
    }
    piece.weights.push_back(weight);
    return true;
  }

  bool read_vertex() {
    if (!skip_own_numbers()) return false;
    const std::size_t before = piece.neighbours.size();
    for (at = scan::skip_blanks(at); !ends_line(); at = scan::skip_blanks(at)) {
      if (!read_neighbour()) return false;
    }
    piece.degrees.push_back(static_cast<Offset>(piece.neighbours.size() - before));
    ++vertex;
    return true;
  }

  /// Behind the last vertex only empty lines and comments may follow.
  bool read_rest() {
    if (ends_line()) return true;
    return fail(at, "expected " + counted(header.vertices, "line") +
                        " of vertices as the header says, found one more, which begins with " +
                        scan::quote_word(at));
  }
};

}  // namespace

void parse_metis_piece(const MetisHeader& header, VertexPiece& piece) {
  const char* const begin = piece.text.text.data();
  VertexReader reader{header, piece, begin, begin + piece.text.text.size(), piece.first_vertex};
  while (reader.at != reader.end) {
    const char* const line = scan::skip_blanks(reader.at);
    if (*line == '%') {
      const auto left = static_cast<std::size_t>(reader.end - line);
      reader.at = static_cast<const char*>(std::memchr(line, '\n', left)) + 1;
      continue;
    }
    reader.at = line;
    if (!(reader.vertex < header.vertices ? reader.read_vertex() : reader.read_rest())) return;
    reader.go_to_next_line();
  }
}

}  // namespace csrkit
