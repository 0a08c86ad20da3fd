// What both writers of .csr files share, so that equal content gives equal bytes: what may be
// written, and how a section gets into a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/buffer.h"
#include "core/file/csr_file_header.h"

namespace csrkit {

/// Throws UsageError unless a .csr file can hold a matrix with these claims and this provenance.
void require_writable(const std::string& path, Index rows, Index cols, const CsrFlags& flags,
                      const std::string& provenance);

using WriteAt = std::function<void(std::uint64_t offset, const void* data, std::uint64_t bytes)>;
WriteAt writing_to(AtomicFile& file);

/// One section on its way to a file: checksums its chunks and writes them in large pieces, several
/// threads at once. Large arrays go out without being copied.
class SectionWriter {
 public:
  SectionWriter(WriteAt write_at, std::uint64_t offset);
  void append(const void* data, std::uint64_t bytes);
  /// Completes the section with its padding, and adds the checksums of its chunks.
  void finish(std::vector<std::uint64_t>* checksums);
  std::uint64_t size_bytes() const { return size_; }

 private:
  void flush();
  void write_chunks(const unsigned char* data, std::uint64_t bytes);

  WriteAt write_at_;
  std::uint64_t offset_;  // where the next flushed byte goes
  std::uint64_t size_ = 0;
  Buffer<unsigned char> buffer_;
  std::uint64_t buffered_ = 0;
  std::vector<std::uint64_t> checksums_;
};

}  // namespace csrkit
