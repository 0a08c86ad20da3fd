// Graphs that the GAP Benchmark Suite has serialised (https://github.com/sbeamer/gapbs),
// little-endian:
//   one byte: directed or not; int64 edges; int64 vertices; int64 offsets [vertices + 1];
//   int32 neighbours [edges] (.sg), or pairs of int32 neighbour and int32 weight (.wsg);
//   of a directed graph, the same offsets and neighbours of its transpose, which are not needed.
// Told by its size, which the numbers fix to the byte.
#include "core/base/counted.h"
#include "preprocess/import/binary/binary_reader.h"
#include "preprocess/import/format_reader.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kHeaderBytes = 17;

struct GapHeader {
  std::uint8_t directed;
  std::int64_t edges, vertices;
};

GapHeader header_of(std::string_view head) {
  return {number_at<std::uint8_t>(head, 0), number_at<std::int64_t>(head, 1),
          number_at<std::int64_t>(head, 9)};
}

/// 4 or 8, as the size of the file has it; 0 if no graph with this header has that size.
int bytes_per_edge(const GapHeader& header, std::uint64_t size) {
  const bool is_possible = header.directed <= 1 && header.vertices >= 0 &&
                           header.vertices <= kMaxIndex && header.edges >= 0 &&
                           header.edges < (std::int64_t{1} << 58);
  if (!is_possible || size < kHeaderBytes) return 0;
  for (const int bytes : {4, 8}) {
    const std::uint64_t lists =
        8 * (static_cast<std::uint64_t>(header.vertices) + 1) +
        static_cast<std::uint64_t>(bytes) * static_cast<std::uint64_t>(header.edges);
    if (size == kHeaderBytes + (header.directed != 0 ? 2 : 1) * lists) return bytes;
  }
  return 0;
}

}  // namespace

bool matches_gapbs(const Peek& peek) {
  return !peek.is_directory && bytes_per_edge(header_of(peek.disk_head), peek.size_bytes) != 0;
}

ImportResult read_gapbs(const std::string& path, const ReadRequest& request) {
  const std::shared_ptr<ByteSource> source = open_input(path, request);
  const std::uint64_t size = plain_size(*source);
  BinaryReader reader(source, ByteOrder::little);
  GapHeader header{};
  header.directed = reader.number<std::uint8_t>("a header of 17 bytes");
  header.edges = reader.number<std::int64_t>("a header of 17 bytes");
  header.vertices = reader.number<std::int64_t>("a header of 17 bytes");
  const int edge_bytes = bytes_per_edge(header, size);
  if (edge_bytes == 0) {
    reader.refuse(0,
                  "expected a serialised graph of the GAP Benchmark Suite, whose counts fix the "
                  "size of the file, found counts of " +
                      std::to_string(header.vertices) + " vertices and " +
                      std::to_string(header.edges) + " edges in " + counted(size, "byte") +
                      "; was it copied completely?");
  }
  ImportResult result;
  result.inputs = {{path, 0, {}}};
  result.entries_read = header.edges;
  result.notes["graph"] = header.directed != 0 ? "directed" : "undirected";
  const auto vertices = static_cast<Index>(header.vertices);
  Buffer<Offset> offsets = reader.array<Offset>(header.vertices + 1, "row offsets");
  Buffer<Index> columns;
  ValueArray values(ValueKind::none, header.edges);
  if (edge_bytes == 4) {
    columns = reader.array<Index>(header.edges, "neighbours");
  } else {
    const Buffer<Index> pairs = reader.array<Index>(2 * header.edges, "neighbours and weights");
    columns = Buffer<Index>(header.edges);
    Buffer<double> weights(header.edges);
    for (Offset i = 0; i < header.edges; ++i) {
      columns[i] = pairs[2 * i];
      weights[i] = pairs[2 * i + 1];
    }
    values = ValueArray::from(std::move(weights));
    result.notes["values"] = "weights, as 32-bit integers";
  }
  finish_csr({vertices, vertices, std::move(offsets), std::move(columns), std::move(values)},
             request, path, result);
  return result;
}

}  // namespace csrkit
