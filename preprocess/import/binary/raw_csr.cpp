// Raw CSR, little-endian: int64 rows, cols, nnz; int32 row offsets [rows + 1]; int32 columns [nnz];
// float32 values [nnz]. Told by its size, which the first three numbers fix to the byte.
#include <cstring>

#include "core/base/counted.h"
#include "preprocess/import/binary/plain_file.h"
#include "preprocess/import/format_reader.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kHeaderBytes = 24;

struct RawHeader {
  std::int64_t rows, cols, nnz;
};

bool is_possible(const RawHeader& header) {
  const auto fits = [](std::int64_t value) { return value >= 0 && value <= kMaxIndex; };
  return fits(header.rows) && fits(header.cols) && fits(header.nnz);
}

std::uint64_t file_bytes(const RawHeader& header) {
  return kHeaderBytes + 4 * (static_cast<std::uint64_t>(header.rows) + 1) +
         8 * static_cast<std::uint64_t>(header.nnz);
}

}  // namespace

bool matches_raw_csr(const Peek& peek) {
  if (peek.is_directory || peek.disk_head.size() < kHeaderBytes) return false;
  RawHeader header;
  std::memcpy(&header, peek.disk_head.data(), sizeof header);
  return is_possible(header) && file_bytes(header) == peek.size_bytes;
}

ImportResult read_raw_csr(const std::string& path, const ReadRequest& request) {
  const InputFile file(path);
  if (file.size_bytes() < kHeaderBytes) {
    throw InputError(path + ": byte " + std::to_string(file.size_bytes()) +
                     ": expected 24 bytes of rows, cols and nnz, found the end of the file; was " +
                     "it copied completely?");
  }
  RawHeader header;
  const Buffer<std::int64_t> sizes = read_elements<std::int64_t>(file, 0, 3);
  std::memcpy(&header, sizes.data(), sizeof header);
  if (!is_possible(header)) {
    throw InputError(path + ": byte 0: expected rows, cols and nnz between 0 and 2^31 - 1, found " +
                     std::to_string(header.rows) + ", " + std::to_string(header.cols) + ", " +
                     std::to_string(header.nnz) + "; is this a raw CSR file?");
  }
  if (file_bytes(header) != file.size_bytes()) {
    throw InputError(path + ": byte " + std::to_string(file.size_bytes()) + ": expected " +
                     counted(file_bytes(header), "byte") + " for " + counted(header.rows, "row") +
                     " and " + counted(header.nnz, "entry") + ", found " +
                     std::to_string(file.size_bytes()) + "; was it copied completely?");
  }
  const auto rows = static_cast<Index>(header.rows);
  const std::uint64_t columns_at = kHeaderBytes + 4 * (static_cast<std::uint64_t>(rows) + 1);
  const std::uint64_t values_at = columns_at + 4 * static_cast<std::uint64_t>(header.nnz);
  ImportResult result;
  result.inputs = {{path, 0, {}}};
  result.entries_read = header.nnz;
  Buffer<Offset> row_offsets =
      widen_offsets(read_elements<std::int32_t>(file, kHeaderBytes, header.rows + 1));
  Buffer<Index> columns = read_elements<Index>(file, columns_at, header.nnz);
  ValueArray values = ValueArray::from(read_elements<float>(file, values_at, header.nnz));
  finish_csr({rows, static_cast<Index>(header.cols), std::move(row_offsets), std::move(columns),
              std::move(values)},
             request, path, result);
  return result;
}

}  // namespace csrkit
