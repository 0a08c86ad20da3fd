#include "core/file/csr_file_frame.h"

#include "core/base/counted.h"
#include "core/file/csr_file_layout.h"
#include "core/file/csr_file_sections.h"

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
                           const CsrFile& beside)
    : row_order_(beside.row_order), col_order_(beside.col_order), provenance_(beside.provenance) {
  if ((row_order_ && row_order_->size() != rows) || (col_order_ && col_order_->size() != cols)) {
    throw UsageError("an order of a file needs as many items as its matrix rows or columns");
  }
  Extras extras;
  extras.has_row_order = row_order_.has_value();
  extras.has_col_order = col_order_.has_value();
  extras.provenance_bytes = provenance_.size();
  header_.value_kind = kind;
  header_.rows = rows;
  header_.cols = cols;
  header_.nnz = nnz;
  header_.flags = beside.flags;
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
  const auto write_section = [&](const char* name, const void* data) {
    const CsrSection* section = find(header_.sections, name);
    if (section == nullptr) return;
    SectionWriter writer(writing_to(file), section->offset_bytes);
    writer.append(data, section->size_bytes);
    writer.finish(&checksums);
  };
  if (row_order_) write_section(kRowOrder, row_order_->new_of_old());
  if (col_order_) write_section(kColOrder, col_order_->new_of_old());
  write_section(kProvenance, provenance_.data());
  const CsrSection& table = header_.sections.back();
  if (checksums.size() * sizeof(std::uint64_t) != table.size_bytes) {
    throw UsageError("cannot write '" + file.path() +
                     "': " + counted(checksums.size(), "checksum") + " for a table of " +
                     counted(table.size_bytes, "byte"));
  }
  write_checksums_and_header(file, header_, checksums);
}

}  // namespace csrkit
