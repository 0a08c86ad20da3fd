#include "core/file/csr_file_frame.h"

#include <algorithm>
#include <cstring>

#include "core/base/buffer.h"
#include "core/base/counted.h"
#include "core/file/csr_file_layout.h"

namespace csrkit {

using namespace csr_layout;

void write_checksums_and_header(AtomicFile& file, CsrFileHeader header,
                                const std::vector<std::uint64_t>& checksums) {
  const CsrSection& table = header.sections.back();
  header.file_bytes = table.offset_bytes + table.size_bytes;
  file.write_at(table.offset_bytes, checksums.data(), table.size_bytes);
  const auto bytes = encode_header(header, checksum_of(checksums.data(), table.size_bytes));
  file.write_at(0, bytes.data(), bytes.size());
}

CsrFileFrame::CsrFileFrame(ValueKind kind, Index rows, Index cols, Offset nnz,
                           std::string provenance, const CsrFlags& flags)
    : provenance_(std::move(provenance)) {
  Extras extras;
  extras.provenance_bytes = provenance_.size();
  header_.value_kind = kind;
  header_.rows = rows;
  header_.cols = cols;
  header_.nnz = nnz;
  header_.flags = flags;
  header_.sections = lay_out(kind, rows, cols, nnz, extras);
}

std::vector<CsrSection> CsrFileFrame::arrays() const {
  std::vector<CsrSection> arrays;
  for (const char* name : {kRowOffsets, kColIndices, kValues}) {
    if (const CsrSection* section = find(header_.sections, name)) arrays.push_back(*section);
  }
  return arrays;
}

std::uint64_t CsrFileFrame::chunk_bytes() { return kChunkBytes; }

std::uint64_t CsrFileFrame::padded_bytes(const CsrSection& section) {
  return align_up(section.size_bytes);
}

std::uint64_t CsrFileFrame::checksum(const void* data, std::uint64_t bytes) {
  return checksum_of(data, bytes);
}

void CsrFileFrame::write(AtomicFile& file, std::vector<std::uint64_t> checksums) const {
  if (const CsrSection* section = find(header_.sections, kProvenance)) {
    Buffer<char> padded(static_cast<Offset>(align_up(section->size_bytes)));
    std::memset(padded.data(), 0, padded.size_bytes());
    std::memcpy(padded.data(), provenance_.data(), provenance_.size());
    for (std::uint64_t at = 0; at < padded.size_bytes(); at += kChunkBytes) {
      checksums.push_back(
          checksum_of(padded.data() + at, std::min(kChunkBytes, padded.size_bytes() - at)));
    }
    file.write_at(section->offset_bytes, padded.data(), padded.size_bytes());
  }
  const CsrSection& table = header_.sections.back();
  if (checksums.size() * sizeof(std::uint64_t) != table.size_bytes) {
    throw UsageError("cannot write '" + file.path() +
                     "': " + counted(checksums.size(), "checksum") + " for a table of " +
                     counted(table.size_bytes, "byte"));
  }
  write_checksums_and_header(file, header_, checksums);
}

}  // namespace csrkit
