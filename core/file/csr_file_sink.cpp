// Writing .csr files whose size is known only when the last row has arrived.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/file/csr_file.h"
#include "core/file/csr_file_frame.h"
#include "core/file/csr_file_layout.h"
#include "core/file/csr_file_sections.h"

namespace csrkit {

using namespace csr_layout;

namespace {

constexpr std::uint64_t kCopiedBytes = 1 << 20;  // at a time
constexpr Index kRowsAtOnce = 4096;              // whose offsets become those of the matrix

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
    if (descriptor_ < 0) fail("a second temporary file beside it cannot be made", errno);
  }
  ~ScratchFile() { ::close(descriptor_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write_at(std::uint64_t offset, const void* data, std::uint64_t bytes) {
    const int reason = write_fully(descriptor_, offset, data, bytes);
    if (reason != 0) fail("writing its second temporary file failed", reason);
  }

  void copy_to(AtomicFile& file, std::uint64_t to, std::uint64_t bytes) {
    Buffer<char> buffer(static_cast<Offset>(std::min(bytes, kCopiedBytes)));
    for (std::uint64_t at = 0; at < bytes;) {
      const std::uint64_t wanted = std::min(bytes - at, kCopiedBytes);
      const ssize_t moved = ::pread(descriptor_, buffer.data(), wanted, static_cast<off_t>(at));
      if (moved < 0 && errno == EINTR) continue;
      if (moved <= 0) fail("reading its second temporary file failed", moved < 0 ? errno : EIO);
      file.write_at(to + at, buffer.data(), static_cast<std::uint64_t>(moved));
      at += static_cast<std::uint64_t>(moved);
    }
  }

 private:
  [[noreturn]] void fail(const char* step, int reason) const {
    throw IoError("cannot write '" + path_ + "': " + step + ": " + std::strerror(reason));
  }

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace

struct CsrFileSink::State {
  State(const std::string& path, Index row_count, Index col_count, ValueKind value_kind)
      : rows(row_count),
        cols(col_count),
        kind(value_kind),
        file(path),
        offsets(writing_to(file), kHeaderBytes),
        columns(writing_to(file),
                find(lay_out(kind, rows, cols, 0, {}), kColIndices)->offset_bytes) {
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
  Offset shifted[kRowsAtOnce];
  for (Index row = 0; row < block.rows();) {
    const Index count = std::min(block.rows() - row, kRowsAtOnce);
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

void CsrFileSink::finish(const CsrFile& beside) {
  State& state = *state_;
  require_all_rows(state.rows_so_far, state.rows);
  require_writable(state.file.path(), state.rows, state.cols, beside.flags, beside.provenance);
  const CsrFileFrame frame(state.kind, state.rows, state.cols, state.nnz, beside);
  std::vector<std::uint64_t> checksums;
  state.offsets.finish(&checksums);
  state.columns.finish(&checksums);
  if (state.values) {
    state.values->finish(&checksums);
    // A size that is no multiple of the alignment leaves a hole, which reads as zeros.
    const CsrSection section = frame.arrays().back();
    state.scratch->copy_to(state.file, section.offset_bytes, section.size_bytes);
  }
  frame.write(state.file, std::move(checksums));
  state.file.commit();
}

}  // namespace csrkit
