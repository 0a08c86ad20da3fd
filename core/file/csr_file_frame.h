// A .csr file around arrays that others fill, each writer its own rows: where everything goes, and
// what makes a file of it. The bytes are those of write_csr_file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/file/csr_file.h"
#include "core/file/csr_file_header.h"

namespace csrkit {

/// The end of making any .csr file: the table of checksums, then the header. `header` has its
/// sections; `checksums` are those of all chunks, in their order.
void write_checksums_and_header(AtomicFile& file, CsrFileHeader header,
                                const std::vector<std::uint64_t>& checksums);

class CsrFileFrame {
 public:
  /// Of a file with these numbers, and flags, orders and provenance of `beside`. Throws UsageError
  /// for orders of other sizes.
  CsrFileFrame(ValueKind kind, Index rows, Index cols, Offset nnz, const CsrFile& beside);

  /// Those that writers fill: row_offsets, col_indices and, unless the kind is none, values.
  std::vector<CsrSection> arrays() const;

  static std::uint64_t chunk_bytes();
  /// Of a section with its padding.
  static std::uint64_t padded_bytes(const CsrSection& section);
  static std::uint64_t checksum(const void* data, std::uint64_t bytes);

  /// Orders, provenance, the table of checksums and the header, by whoever commits the file.
  /// `checksums`: those of the chunks of arrays(), in their order.
  void write(AtomicFile& file, std::vector<std::uint64_t> checksums) const;

 private:
  CsrFileHeader header_;
  std::optional<Permutation> row_order_, col_order_;
  std::string provenance_;
};

}  // namespace csrkit
