// Galois's binary graphs (.gr; https://iss.oden.utexas.edu/?p=projects/galois), little-endian:
//   uint64 version (1 or 2), bytes of an edge's data, vertices, edges;
//   uint64 end of each vertex's edges [vertices]; uint32 (version 1) or uint64 (2) targets [edges],
//   of version 1 padded to 8 bytes; data of the edges.
// Nothing in the file says what its edges' data are; the user does.
#include "core/base/counted.h"
#include "preprocess/import/binary/binary_reader.h"
#include "preprocess/import/format_reader.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kHeaderBytes = 32;

struct GaloisHeader {
  std::uint64_t version, data_bytes, vertices, edges;

  std::uint64_t targets_bytes() const { return (version == 1 ? 4 : 8) * edges; }
  std::uint64_t padding() const { return version == 1 && edges % 2 == 1 ? 4 : 0; }
  std::uint64_t least_bytes() const { return kHeaderBytes + 8 * vertices + targets_bytes(); }
  bool is_possible() const {
    constexpr auto kMost = std::uint64_t{1} << 56;
    return (version == 1 || version == 2) && data_bytes <= 16 &&
           vertices <= static_cast<std::uint64_t>(kMaxIndex) && edges < kMost;
  }
  /// Without edge data the padding may be missing.
  bool fits(std::uint64_t size) const {
    return size == least_bytes() + padding() + data_bytes * edges ||
           (data_bytes == 0 && size == least_bytes());
  }
};

struct DataType {
  const char* name;
  std::uint64_t bytes;
  ValueArray (*read)(BinaryReader& reader, Offset count);
};

template <class T>
bool is_exact(T number) {
  if constexpr (sizeof(T) < 8 || std::is_floating_point_v<T>) {
    return true;
  } else {
    constexpr T kExact = T{1} << 53;
    return number <= kExact && (std::is_unsigned_v<T> || number >= T{0} - kExact);
  }
}

template <class T>
ValueArray read_data(BinaryReader& reader, Offset count) {
  Buffer<T> stored = reader.array<T>(count, "data of the edges");
  if constexpr (std::is_floating_point_v<T>) return ValueArray::from(std::move(stored));
  Buffer<double> values(count);
  for (Offset i = 0; i < count; ++i) {
    values[i] = static_cast<double>(stored[i]);
    if (is_exact(stored[i])) continue;
    reader.refuse(reader.position() - static_cast<std::uint64_t>(count - i) * sizeof(T),
                  "expected an integer that float64 holds exactly (up to 2^53), found " +
                      std::to_string(stored[i]) + "; --value-kind none leaves the data");
  }
  return ValueArray::from(std::move(values));
}

constexpr DataType kDataTypes[] = {
    {"i32", 4, read_data<std::int32_t>},  {"u32", 4, read_data<std::uint32_t>},
    {"f32", 4, read_data<float>},         {"i64", 8, read_data<std::int64_t>},
    {"u64", 8, read_data<std::uint64_t>}, {"f64", 8, read_data<double>},
};

ValueArray read_edge_data(BinaryReader& reader, const GaloisHeader& header,
                          const ReadRequest& request, ImportResult& result) {
  const auto count = static_cast<Offset>(header.edges);
  if (header.data_bytes == 0 || request.value_kind == name_of(ValueKind::none)) {
    return ValueArray(ValueKind::none, count);
  }
  reader.skip(header.padding(), "padding");
  const std::string wanted = request.parameters.text("edge-type");
  for (const DataType& type : kDataTypes) {
    if (type.name != wanted || type.bytes != header.data_bytes) continue;
    result.notes["values"] = wanted;
    return type.read(reader, count);
  }
  const std::string size = std::to_string(header.data_bytes);
  const std::string remedy =
      std::string(header.data_bytes == 4   ? "say --edge-type=i32, u32 or f32"
                  : header.data_bytes == 8 ? "say --edge-type=i64, u64 or f64"
                                           : "no type here has that size") +
      ", or --value-kind=none to leave them out";
  const std::string found = ", found " + size + " bytes each";
  reader.refuse(8, wanted == "auto"
                       ? "expected to be told what the data of the edges are" + found +
                             ", and no .gr file says of what type; " + remedy
                       : "expected edge data of the size of " + wanted + found + "; " + remedy);
}

}  // namespace

bool matches_galois(const Peek& peek) {
  if (peek.is_directory || peek.disk_head.size() < kHeaderBytes) return false;
  const auto word = [&](std::size_t i) { return number_at<std::uint64_t>(peek.disk_head, 8 * i); };
  const GaloisHeader header{word(0), word(1), word(2), word(3)};
  return header.is_possible() && header.fits(peek.size_bytes);
}

ImportResult read_galois(const std::string& path, const ReadRequest& request) {
  const std::shared_ptr<ByteSource> source = open_input(path, request);
  const std::uint64_t size = plain_size(*source);
  BinaryReader reader(source, ByteOrder::little);
  const auto word = [&] { return reader.number<std::uint64_t>("a header of 32 bytes"); };
  GaloisHeader header{};
  header.version = word();
  header.data_bytes = word();
  header.vertices = word();
  header.edges = word();
  if (!header.is_possible() || !header.fits(size)) {
    reader.refuse(0,
                  "expected a Galois graph of version 1 or 2, whose counts fix the size of the "
                  "file, found version " +
                      std::to_string(header.version) + ", " + std::to_string(header.vertices) +
                      " vertices and " + std::to_string(header.edges) + " edges in " +
                      counted(size, "byte") + "; was it copied completely?");
  }
  ImportResult result;
  result.inputs = {{path, 0, {}}};
  const auto vertices = static_cast<Offset>(header.vertices);
  const auto edges = static_cast<Offset>(header.edges);
  result.entries_read = edges;
  const Buffer<Offset> ends = reader.array<Offset>(vertices, "ends of the vertices' edges");
  Buffer<Offset> offsets(vertices + 1);
  offsets[0] = 0;
  std::copy(ends.begin(), ends.end(), offsets.begin() + 1);
  Buffer<Index> targets;
  if (header.version == 1) {
    targets = reader.array<Index>(edges, "targets");  // above 2^31 they are negative: refused
  } else {
    const Buffer<std::uint64_t> wide = reader.array<std::uint64_t>(edges, "targets");
    targets = Buffer<Index>(edges);
    for (Offset i = 0; i < edges; ++i) {
      targets[i] = wide[i] < header.vertices ? static_cast<Index>(wide[i]) : Index{-1};
    }
  }
  ValueArray values = read_edge_data(reader, header, request, result);
  const auto order = static_cast<Index>(vertices);
  finish_csr({order, order, std::move(offsets), std::move(targets), std::move(values)}, request,
             path, result);
  return result;
}

}  // namespace csrkit
