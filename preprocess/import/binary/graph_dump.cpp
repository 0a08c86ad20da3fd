// Headerless pairs of little-endian int32 arrays, told by their names:
//   <g>.ptrdump + <g>.edgedump, <g>.new_indptr + <g>.new_indices: row offsets and columns.
#include <filesystem>

#include "core/base/counted.h"
#include "preprocess/import/binary/plain_file.h"
#include "preprocess/import/format_reader.h"

namespace csrkit {

namespace {

struct Suffixes {
  const char* offsets;
  const char* columns;
};
constexpr Suffixes kPairs[] = {{".ptrdump", ".edgedump"}, {".new_indptr", ".new_indices"}};
constexpr Suffixes kStemPairs[] = {{".graph.ptrdump", ".graph.edgedump"},
                                   {".ptrdump", ".edgedump"},
                                   {".new_indptr", ".new_indices"}};

struct DumpPaths {
  std::string offsets, columns;  // both "" if the path is no dump
};

/// The path without `suffix`; "" if it does not end so.
std::string stem_of(const std::string& path, const std::string& suffix) {
  if (path.size() <= suffix.size()) return {};
  const std::size_t length = path.size() - suffix.size();
  return path.compare(length, suffix.size(), suffix) == 0 ? path.substr(0, length) : std::string();
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

DumpPaths find_pair(const std::string& path) {
  for (const Suffixes& pair : kPairs) {
    for (const char* suffix : {pair.offsets, pair.columns}) {
      const std::string stem = stem_of(path, suffix);
      if (!stem.empty()) return {stem + pair.offsets, stem + pair.columns};
    }
  }
  if (!exists(path)) {
    for (const Suffixes& pair : kStemPairs) {
      if (exists(path + pair.offsets)) return {path + pair.offsets, path + pair.columns};
    }
  }
  return {};
}

Offset count_words(const InputFile& file) {
  if (file.size_bytes() % 4 == 0) return static_cast<Offset>(file.size_bytes() / 4);
  throw InputError(file.path() + ": byte " + std::to_string(file.size_bytes()) +
                   ": expected a whole number of 32-bit integers, found " +
                   counted(file.size_bytes(), "byte") + "; was the file copied completely?");
}

}  // namespace

bool matches_graph_dump(const Peek& peek) {
  return !peek.is_directory && !find_pair(peek.path).offsets.empty();
}

ImportResult read_graph_dump(const std::string& path, const ReadRequest& request) {
  const DumpPaths paths = find_pair(path);
  if (paths.offsets.empty()) {
    throw UsageError(path + ": a graph dump is a pair of files, <name>.ptrdump and " +
                     "<name>.edgedump or <name>.new_indptr and <name>.new_indices; give one of " +
                     "them or <name>");
  }
  ImportResult result;
  result.inputs = {{paths.offsets, 0, {}}, {paths.columns, 0, {}}};
  const InputFile offsets_file(paths.offsets), columns_file(paths.columns);
  const Offset offsets = count_words(offsets_file), nnz = count_words(columns_file);
  if (offsets == 0 || offsets - 1 > kMaxIndex) {
    throw InputError(paths.offsets + ": byte 0: expected 1 to 2^31 row offsets, found " +
                     std::to_string(offsets) + "; is this the right file?");
  }
  const auto rows = static_cast<Index>(offsets - 1);
  const Parameters& given = request.parameters;
  if (given.is_set("rows") && given.index("rows") != rows) {
    throw InputError(paths.offsets + ": byte 0: expected " + given.text("rows") +
                     " rows as asked for, found offsets of " + std::to_string(rows));
  }
  const Index cols = given.is_set("cols") ? given.index("cols") : rows;
  Buffer<std::int32_t> short_offsets = read_elements<std::int32_t>(offsets_file, 0, offsets);
  if (short_offsets[0] != 0 || short_offsets[rows] != nnz) {
    throw InputError(paths.offsets + ": byte " +
                     std::to_string(short_offsets[0] != 0 ? 0 : std::int64_t{rows} * 4) +
                     ": expected row offsets from 0 to the " + counted(nnz, "entry") + " of " +
                     paths.columns + ", found " + std::to_string(short_offsets[0]) + " to " +
                     std::to_string(short_offsets[rows]) + "; do the files belong together?");
  }
  Buffer<Index> columns = read_elements<Index>(columns_file, 0, nnz);
  result.entries_read = nnz;
  finish_csr({rows, cols, widen_offsets(short_offsets), std::move(columns),
              ValueArray(ValueKind::none, nnz)},
             request, paths.columns, result);
  return result;
}

}  // namespace csrkit
