#include "preprocess/import/metis_lines.h"

#include <cstring>

#include "core/base/counted.h"
#include "preprocess/import/scan.h"

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

void parse_metis_piece(const MetisHeader& header, VertexPiece& piece) {
  const char* at = piece.text.text.data();
  const char* const end = at + piece.text.text.size();
  const auto fail = [&](const char* place, std::string message) {
    piece.fault = std::move(message);
    piece.fault_at = place;
  };
  const auto ends_line = [&] { return *at == '\n' || (*at == '\r' && at[1] == '\n'); };
  // METIS itself knows whole numbers as weights only; other programs write real ones.
  const auto read_weight = [&](double& weight) {
    return scan::read_real(at, end, weight) && (scan::is_blank(*at) || ends_line());
  };
  for (Offset vertex = piece.first_vertex; at != end;) {
    at = scan::skip_blanks(at);
    if (*at == '%') {
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
      continue;
    }
    const auto of_vertex = [&] { return " of vertex " + std::to_string(vertex + 1); };
    if (vertex >= header.vertices) {
      if (!ends_line()) {
        return fail(at, "expected " + counted(header.vertices, "line") +
                            " of vertices as the header says, found one more, which begins with " +
                            scan::quote_word(at));
      }
      at += *at == '\r' ? 2 : 1;
      continue;
    }
    if (!ends_line()) {
      for (Offset i = 0; i < header.numbers_before_neighbours(); ++i) {
        double ignored;
        at = scan::skip_blanks(at);
        const char* word = at;
        if (!read_weight(ignored)) {
          return fail(word,
                      "expected a weight" + of_vertex() + ", found " + scan::quote_word(word));
        }
      }
    }
    const std::size_t before = piece.neighbours.size();
    for (;;) {
      at = scan::skip_blanks(at);
      if (ends_line()) break;
      const char* word = at;
      std::uint64_t id = 0;
      if (!scan::read_digits(at, id) || (!scan::is_blank(*at) && !ends_line()) || id < 1 ||
          id > static_cast<std::uint64_t>(header.vertices)) {
        return fail(word, "expected a neighbour" + of_vertex() + " from 1 to " +
                              std::to_string(header.vertices) + ", found " +
                              scan::quote_word(word));
      }
      if (static_cast<Offset>(id) == vertex + 1) {
        return fail(word, "expected neighbours" + of_vertex() +
                              " other than itself, METIS graphs have no loops; remove the loop, or "
                              "import the graph in another format");
      }
      piece.neighbours.push_back(static_cast<Index>(id - 1));
      if (header.has_edge_weights) {
        at = scan::skip_blanks(at);
        word = at;
        double weight;
        if (!read_weight(weight)) {
          return fail(word, "expected an edge's weight" + of_vertex() + ", found " +
                                scan::quote_word(word));
        }
        if (weight == 0 && !scan::is_written_zero(word, at) && piece.underflows++ == 0) {
          piece.first_underflow = word;
        }
        piece.weights.push_back(weight);
      }
    }
    piece.degrees.push_back(static_cast<Offset>(piece.neighbours.size() - before));
    at += *at == '\r' ? 2 : 1;
    ++vertex;
  }
}

}  // namespace csrkit
