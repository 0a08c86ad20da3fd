// Writing .csr files: whole ones, and ones whose size is known only when the last row has arrived.
// Both go through SectionWriter, so equal content gives equal bytes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/counted.h"
#include "core/base/team_errors.h"
#include "core/file/csr_file.h"
#include "core/file/csr_file_frame.h"
#include "core/file/csr_file_layout.h"

namespace csrkit {

using namespace csr_layout;

namespace {

constexpr std::uint64_t kBufferBytes = 1 << 20;   // gathered before a small append is written
constexpr std::uint64_t kPieceBytes = 8 << 20;    // hashed and written by one thread at a time
constexpr std::uint64_t kSliceBytes = 128 << 20;  // between two calls of the progress callback
static_assert(kBufferBytes % kChunkBytes == 0 && kPieceBytes % kChunkBytes == 0);

using WriteAt = std::function<void(std::uint64_t offset, const void* data, std::uint64_t bytes)>;

/// One section on its way to a file: checksums its chunks and writes them in large pieces, several
/// threads at once. Large arrays go out without being copied.
class SectionWriter {
 public:
  SectionWriter(WriteAt write_at, std::uint64_t offset)
      : write_at_(std::move(write_at)), offset_(offset) {}

  void append(const void* data, std::uint64_t bytes) {
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

  /// Completes the section with its padding. Returns the checksums of its chunks.
  const std::vector<std::uint64_t>& finish() {
    if (buffered_ > 0) {
      const std::uint64_t padded = align_up(buffered_);
      std::memset(buffer_.data() + buffered_, 0, padded - buffered_);
      buffered_ = padded;
      flush();
    }
    buffer_ = Buffer<unsigned char>();
    return checksums_;
  }

  std::uint64_t size_bytes() const { return size_; }

 private:
  void flush() {
    write_chunks(buffer_.data(), buffered_);
    buffered_ = 0;
  }

  /// Whole chunks, except for the last of the section.
  void write_chunks(const unsigned char* data, std::uint64_t bytes) {
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

  WriteAt write_at_;
  std::uint64_t offset_;  // where the next flushed byte goes
  std::uint64_t size_ = 0;
  Buffer<unsigned char> buffer_;
  std::uint64_t buffered_ = 0;
  std::vector<std::uint64_t> checksums_;
};

WriteAt into(AtomicFile& file) {
  return [&file](std::uint64_t offset, const void* data, std::uint64_t bytes) {
    file.write_at(offset, data, bytes);
  };
}

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
                     ", above the limit of 16777216");
  }
  if (first_invalid_utf8(provenance.data(), provenance.size()) < provenance.size()) {
    throw UsageError(prefix + "its provenance is not UTF-8 text");
  }
}

/// A file without a name, beside `path`: gone with its descriptor, even after a kill.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& path) : path_(path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor_ < 0) {  // network file systems cannot; the name lives for two system calls
      std::string name = folder + "/scratch.tmp.XXXXXX";
      descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
      if (descriptor_ >= 0) ::unlink(name.c_str());
    }
    if (descriptor_ < 0) fail("a second temporary file beside it cannot be made");
  }
  ~ScratchFile() { ::close(descriptor_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write_at(std::uint64_t offset, const void* data, std::uint64_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t moved = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
      if (moved < 0 && errno == EINTR) continue;
      if (moved <= 0) fail("writing its second temporary file failed");
      from += moved;
      offset += static_cast<std::uint64_t>(moved);
      bytes -= static_cast<std::uint64_t>(moved);
    }
  }

  void copy_to(AtomicFile& file, std::uint64_t to, std::uint64_t bytes) {
    Buffer<char> buffer(static_cast<Offset>(std::min(bytes, kBufferBytes)));
    for (std::uint64_t at = 0; at < bytes;) {
      const std::uint64_t wanted = std::min(bytes - at, kBufferBytes);
      const ssize_t moved = ::pread(descriptor_, buffer.data(), wanted, static_cast<off_t>(at));
      if (moved < 0 && errno == EINTR) continue;
      if (moved <= 0) fail("reading its second temporary file failed");
      file.write_at(to + at, buffer.data(), static_cast<std::uint64_t>(moved));
      at += static_cast<std::uint64_t>(moved);
    }
  }

 private:
  [[noreturn]] void fail(const char* step) const {
    throw IoError("cannot write '" + path_ + "': " + step + ": " + std::strerror(errno));
  }

  std::string path_;
  int descriptor_ = -1;
};

void extend(std::vector<std::uint64_t>& all, const std::vector<std::uint64_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Everything optional that a file holds, in the form in which it is written. Borrows `file`.
class OptionalParts {
 public:
  /// Throws UsageError for parts that do not belong to the matrix.
  OptionalParts(const std::string& path, const CsrFile& file) : path_(path), file_(file) {
    extras_.provenance_bytes = file.provenance.size();
    if ((extras_.has_row_order = file.row_order.has_value())) {
      require_size("row order", file.row_order->size(), file.matrix.rows());
    }
    if ((extras_.has_col_order = file.col_order.has_value())) {
      require_size("column order", file.col_order->size(), file.matrix.cols());
    }
    if ((extras_.has_partition = file.partition.has_value())) add_partition(*file.partition);
    if (file.ranks) add_ranks(*file.ranks);
  }

  const Extras& extras() const { return extras_; }

  /// The content of an optional section of `bytes` bytes, piece by piece.
  std::vector<std::pair<const void*, std::uint64_t>> content(const std::string& name,
                                                             std::uint64_t bytes) const {
    if (name == kRowOrder) return {{file_.row_order->new_of_old(), bytes}};
    if (name == kColOrder) return {{file_.col_order->new_of_old(), bytes}};
    if (name == kPartBorders) return {{file_.partition->borders->data(), bytes}};
    if (name == kRankHeads) return {{rank_words_.data(), bytes}};
    if (name == kRankLists) return {{file_.ranks->list_data(), bytes}};
    if (name == kSplitRows) return {{split_words_.data(), bytes}};
    if (name == kProvenance) return {{file_.provenance.data(), bytes}};
    return {{&file_.partition->parts, sizeof(Index)},
            {file_.partition->part_of_row->data(), bytes - sizeof(Index)}};
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError("cannot write '" + path_ + "': " + why);
  }

  void require_size(const char* what, Offset size, Index expected) const {
    if (size == expected) return;
    refuse(std::string("its ") + what + " has " + std::to_string(size) + " items, the matrix " +
           std::to_string(expected));
  }

  void add_partition(const Partition& partition) {
    const CsrMatrix& matrix = file_.matrix;
    if (partition.part_of_row == nullptr || partition.parts < 0) refuse("its partition is empty");
    require_size("partition", partition.part_of_row->size(), matrix.rows());
    for (const Index part : *partition.part_of_row) {
      if (part < 0 || part >= partition.parts) {
        refuse("its partition has " + counted(partition.parts, "part") + ", but a row is in part " +
               std::to_string(part));
      }
    }
    if (partition.borders == nullptr) return;
    require_size("partition", partition.borders->size() - 1, partition.parts);
    extras_.part_borders_bytes = partition.borders->size_bytes();
    if (matrix.rows() != matrix.cols() ||
        !is_part_borders_size(extras_.part_borders_bytes,
                              static_cast<std::uint64_t>(matrix.rows()))) {
      refuse("part borders are those of a square matrix with no more parts than rows");
    }
  }

  void add_ranks(const RankSections& ranks) {
    const PartHead& last = ranks.levels().back().parts.back();
    if (last.row_end != file_.matrix.rows() || last.col_end != file_.matrix.cols()) {
      refuse("its parts for ranks are those of a matrix of " + std::to_string(last.row_end) +
             " x " + std::to_string(last.col_end));
    }
    rank_words_ = ranks.head_words();
    split_words_ = ranks.split_words();
    extras_.rank_heads_bytes = rank_words_.size() * sizeof(std::int64_t);
    extras_.rank_lists_bytes = ranks.list_bytes();
    extras_.split_rows_bytes = split_words_.size() * sizeof(std::int64_t);
  }

  const std::string& path_;
  const CsrFile& file_;
  Extras extras_;
  std::vector<std::int64_t> rank_words_, split_words_;
};

}  // namespace

void write_csr_file(const std::string& path, const CsrFile& file,
                    const ProgressCallback& progress) {
  const CsrMatrix& matrix = file.matrix;
  require_writable(path, matrix.rows(), matrix.cols(), file.flags, file.provenance);
  const OptionalParts parts(path, file);
  CsrFileHeader header;
  header.value_kind = matrix.value_kind();
  header.rows = matrix.rows();
  header.cols = matrix.cols();
  header.nnz = matrix.nnz();
  header.flags = file.flags;
  header.sections =
      lay_out(header.value_kind, header.rows, header.cols, header.nnz, parts.extras());
  const std::uint64_t total = header.sections.back().offset_bytes;

  AtomicFile out(path);
  std::vector<std::uint64_t> checksums;
  const auto content_of =
      [&](const CsrSection& section) -> std::vector<std::pair<const void*, std::uint64_t>> {
    if (section.name == kRowOffsets) return {{matrix.row_offsets(), section.size_bytes}};
    if (section.name == kColIndices) return {{matrix.col_indices(), section.size_bytes}};
    if (section.name == kValues) return {{matrix.values(), section.size_bytes}};
    return parts.content(section.name, section.size_bytes);
  };
  for (const CsrSection& section : header.sections) {
    if (section.name == kChecksums) break;
    SectionWriter writer(into(out), section.offset_bytes);
    for (const auto& [data, bytes] : content_of(section)) {
      for (std::uint64_t at = 0; at < bytes; at += kSliceBytes) {
        writer.append(static_cast<const char*>(data) + at, std::min(kSliceBytes, bytes - at));
        if (progress) progress("writing", section.offset_bytes + writer.size_bytes(), total);
      }
    }
    extend(checksums, writer.finish());
  }
  write_checksums_and_header(out, std::move(header), checksums);
  out.commit();
}

struct CsrFileSink::State {
  State(const std::string& path, Index row_count, Index col_count, ValueKind value_kind)
      : rows(row_count),
        cols(col_count),
        kind(value_kind),
        file(path),
        offsets(into(file), kHeaderBytes),
        columns(into(file), lay_out(kind, rows, cols, 0, {})[1].offset_bytes) {
    if (kind == ValueKind::none) return;
    // Values begin where columns end, which nobody knows yet: they wait in a file of their own.
    scratch = std::make_unique<ScratchFile>(path);
    values = std::make_unique<SectionWriter>(
        [this](std::uint64_t offset, const void* data, std::uint64_t bytes) {
          scratch->write_at(offset, data, bytes);
        },
        0);
  }

  Index rows;
  Index cols;
  ValueKind kind;
  Index rows_so_far = 0;
  Offset nnz = 0;
  AtomicFile file;
  std::unique_ptr<ScratchFile> scratch;
  SectionWriter offsets;
  SectionWriter columns;
  std::unique_ptr<SectionWriter> values;
};

CsrFileSink::CsrFileSink(const std::string& path, Index rows, Index cols, ValueKind kind) {
  if (rows < 0 || cols < 0) throw UsageError("a matrix cannot have negative dimensions");
  state_ = std::make_unique<State>(path, rows, cols, kind);
  const Offset zero = 0;
  state_->offsets.append(&zero, sizeof zero);
}

CsrFileSink::~CsrFileSink() = default;

void CsrFileSink::append_rows(const CsrMatrix& block) {
  State& state = *state_;
  require_next_block(block, state.rows_so_far, state.rows, state.cols, state.kind);
  Offset shifted[4096];
  for (Index row = 0; row < block.rows();) {
    const Index count = std::min<Index>(block.rows() - row, 4096);
    for (Index i = 0; i < count; ++i) shifted[i] = state.nnz + block.row_offsets()[row + i + 1];
    state.offsets.append(shifted, static_cast<std::uint64_t>(count) * sizeof(Offset));
    row += count;
  }
  const auto entries = static_cast<std::uint64_t>(block.nnz());
  state.columns.append(block.col_indices(), entries * sizeof(Index));
  if (state.values) {
    state.values->append(block.values(), entries * static_cast<std::uint64_t>(size_of(state.kind)));
  }
  state.rows_so_far += block.rows();
  state.nnz += block.nnz();
}

void CsrFileSink::finish(const CsrFlags& flags, const std::string& provenance) {
  State& state = *state_;
  require_all_rows(state.rows_so_far, state.rows);
  require_writable(state.file.path(), state.rows, state.cols, flags, provenance);
  Extras extras;
  extras.provenance_bytes = provenance.size();
  CsrFileHeader header;
  header.value_kind = state.kind;
  header.rows = state.rows;
  header.cols = state.cols;
  header.nnz = state.nnz;
  header.flags = flags;
  header.sections = lay_out(state.kind, state.rows, state.cols, state.nnz, extras);

  std::vector<std::uint64_t> checksums = state.offsets.finish();
  extend(checksums, state.columns.finish());
  if (state.values) {
    extend(checksums, state.values->finish());
    const CsrSection& section = *find(header.sections, kValues);
    state.scratch->copy_to(state.file, section.offset_bytes, section.size_bytes);
    // A size that is no multiple of the alignment leaves a hole, which reads as zeros.
    state.scratch.reset();
  }
  if (const CsrSection* section = find(header.sections, kProvenance)) {
    SectionWriter writer(into(state.file), section->offset_bytes);
    writer.append(provenance.data(), provenance.size());
    extend(checksums, writer.finish());
  }
  write_checksums_and_header(state.file, std::move(header), checksums);
  state.file.commit();
}

}  // namespace csrkit
