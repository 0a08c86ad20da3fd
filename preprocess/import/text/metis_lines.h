// The lines of a METIS graph: its header, and pieces of its vertices for threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "preprocess/import/source/line_reader.h"

namespace csrkit {

struct MetisHeader {
  Offset vertices = 0, edges = 0;
  bool has_sizes = false, has_edge_weights = false;
  Offset vertex_weights = 0;
  Offset numbers_before_neighbours() const { return (has_sizes ? 1 : 0) + vertex_weights; }
};

/// "" or what is wrong with the header line.
std::string parse_metis_header(std::string_view line, MetisHeader& header);

bool is_metis_comment(std::string_view line);

/// The whole numbers of a line, up to the first word that is none: then `is_sound` is false.
std::vector<std::uint64_t> metis_numbers(std::string_view line, bool& is_sound);

/// The neighbours of some successive vertices.
struct VertexPiece {
  TextPiece text;
  Offset first_vertex = 0;  // among all
  Offset vertices = 0;
  std::vector<Index> neighbours;
  std::vector<double> weights;
  std::vector<Offset> degrees;
  Offset underflows = 0;  // edge weights that are not 0 and are kept as 0
  const char* first_underflow = nullptr;
  std::string fault;
  const char* fault_at = nullptr;
};

/// Lines of vertices in `text`, which ends at a line end.
Offset count_metis_vertices(std::string_view text);

/// Reads the vertices of the piece. At the first fault it stops and notes it in the piece.
void parse_metis_piece(const MetisHeader& header, VertexPiece& piece);

}  // namespace csrkit
