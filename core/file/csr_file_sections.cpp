#include "core/file/csr_file_sections.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/team_errors.h"
#include "core/file/csr_file_layout.h"

namespace csrkit {

using namespace csr_layout;

namespace {

constexpr std::uint64_t kBufferBytes = 1 << 20;  // gathered before a small append is written
constexpr std::uint64_t kPieceBytes = 8 << 20;   // hashed and written by one thread at a time
static_assert(kBufferBytes % kChunkBytes == 0 && kPieceBytes % kChunkBytes == 0);

}  // namespace

void require_writable(const std::string& path, Index rows, Index cols, const CsrFlags& flags,
                      const std::string& provenance) {
  const std::string prefix = "cannot write '" + path + "': ";
  if (!flags.is_sorted || !flags.is_unique) {
    throw UsageError(prefix + "a .csr file holds sorted rows of unique columns only");
  }
  if (flags.is_value_symmetric && !flags.is_pattern_symmetric) {
    throw UsageError(prefix + "a value-symmetric matrix is pattern-symmetric; set both flags");
  }
  if (flags.is_pattern_symmetric && rows != cols) {
    throw UsageError(prefix + "a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                     " cannot be symmetric");
  }
  if (provenance.size() > kMaxProvenanceBytes) {
    throw UsageError(prefix + "its provenance has " + counted(provenance.size(), "byte") +
                     ", above the limit of " + std::to_string(kMaxProvenanceBytes));
  }
  if (first_invalid_utf8(provenance.data(), provenance.size()) < provenance.size()) {
    throw UsageError(prefix + "its provenance is not UTF-8 text");
  }
}

WriteAt writing_to(AtomicFile& file) {
  return [&file](std::uint64_t offset, const void* data, std::uint64_t bytes) {
    file.write_at(offset, data, bytes);
  };
}

SectionWriter::SectionWriter(WriteAt write_at, std::uint64_t offset)
    : write_at_(std::move(write_at)), offset_(offset) {}

void SectionWriter::append(const void* data, std::uint64_t bytes) {
  const auto* from = static_cast<const unsigned char*>(data);
  size_ += bytes;
  while (bytes > 0) {
    if (buffered_ == 0 && bytes >= kBufferBytes) {
      const std::uint64_t whole = bytes / kChunkBytes * kChunkBytes;
      write_chunks(from, whole);
      from += whole;
      bytes -= whole;
      continue;
    }
    if (buffer_.size() == 0) buffer_ = Buffer<unsigned char>(kBufferBytes);
    const std::uint64_t taken = std::min(bytes, kBufferBytes - buffered_);
    std::memcpy(buffer_.data() + buffered_, from, taken);
    buffered_ += taken;
    from += taken;
    bytes -= taken;
    if (buffered_ == kBufferBytes) flush();
  }
}

void SectionWriter::finish(std::vector<std::uint64_t>* checksums) {
  if (buffered_ > 0) {
    const std::uint64_t padded = align_up(buffered_);
    std::memset(buffer_.data() + buffered_, 0, padded - buffered_);
    buffered_ = padded;
    flush();
  }
  checksums->insert(checksums->end(), checksums_.begin(), checksums_.end());
}

void SectionWriter::flush() {
  write_chunks(buffer_.data(), buffered_);
  buffered_ = 0;
}

/// Whole chunks, except for the last of the section.
void SectionWriter::write_chunks(const unsigned char* data, std::uint64_t bytes) {
  const std::uint64_t first_checksum = checksums_.size();
  checksums_.resize(first_checksum + (bytes + kChunkBytes - 1) / kChunkBytes);
  // Little data is cut finer, so that every thread has some.
  const std::uint64_t piece = bytes > 4 * kPieceBytes ? kPieceBytes : kChunkBytes;
  const auto pieces = static_cast<std::int64_t>((bytes + piece - 1) / piece);
  TeamErrors errors;
#pragma omp parallel for schedule(dynamic, 1) if (pieces > 1)
  for (std::int64_t p = 0; p < pieces; ++p) {
    errors.guard([&] {
      const std::uint64_t begin = static_cast<std::uint64_t>(p) * piece;
      const std::uint64_t end = std::min(begin + piece, bytes);
      for (std::uint64_t at = begin; at < end; at += kChunkBytes) {
        checksums_[first_checksum + at / kChunkBytes] =
            checksum_of(data + at, std::min(kChunkBytes, end - at));
      }
      write_at_(offset_ + begin, data + begin, end - begin);
    });
  }
  errors.rethrow();
  offset_ += bytes;
}

}  // namespace csrkit
