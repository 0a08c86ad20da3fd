#include "preprocess/import/source/archive_walk.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <limits>
#include <utility>

#include "core/base/buffer.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/input_file.h"
#include "preprocess/import/source/byte_stream.h"
#include "preprocess/import/source/compression.h"

namespace csrkit {

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Reads for libarchive: a file, or a stream from its first byte to its last. Some formats take a
/// read that the system refuses for the end of the data, so the reason is kept here. libarchive is
/// C: nothing may be thrown through it.
struct ArchiveInput {
  explicit ArchiveInput(const std::string& path) : file(std::make_unique<InputFile>(path)) {}
  explicit ArchiveInput(std::unique_ptr<ByteSource> source) : stream(std::move(source)) {}

  bool has_failed() const { return reason != 0 || failure != nullptr; }
  [[noreturn]] void fail() const {
    if (failure != nullptr) std::rethrow_exception(failure);
    file->fail("reading failed", reason);
  }

  std::unique_ptr<InputFile> file;     // one of
  std::unique_ptr<ByteSource> stream;  // these
  std::int64_t position = 0;
  std::uint64_t header_room = kNoLimit;  // bytes of the stream that may still be a header
  int reason = 0;                        // an errno, of the file
  std::exception_ptr failure;            // what reading the stream threw
  std::array<char, 1 << 18> block;
};

/// The maps of sparse files have no end of their own, and libarchive keeps them whole. Those of a
/// plain file take what it has bytes for, those of a stream may come from nothing.
constexpr std::uint64_t kMostHeaderBytes = 4 << 20;

la_ssize_t read_stream(archive* handle, ArchiveInput& input) {
  try {
    if (input.header_room == 0) {
      throw InputError(input.stream->name() + ": expected headers of at most " +
                       counted(kMostHeaderBytes, "byte") +
                       " in the archive, found a longer one; unpack it");
    }
    const std::size_t got = input.stream->read(input.block.data(), input.block.size());
    if (input.header_room != kNoLimit) {
      input.header_room -= std::min<std::uint64_t>(input.header_room, got);
    }
    return static_cast<la_ssize_t>(got);
  } catch (...) {
    input.failure = std::current_exception();
    archive_set_error(handle, EIO, "reading failed");
    return ARCHIVE_FATAL;
  }
}

la_ssize_t read_block(archive* handle, void* data, const void** bytes) {
  auto& input = *static_cast<ArchiveInput*>(data);
  *bytes = input.block.data();
  if (input.stream != nullptr) return read_stream(handle, input);
  ssize_t got = 0;
  do {
    got = ::pread(input.file->descriptor(), input.block.data(), input.block.size(), input.position);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    input.reason = errno;
    archive_set_error(handle, input.reason, "reading failed");
    return ARCHIVE_FATAL;
  }
  input.position += got;
  return got;
}

la_int64_t seek(archive*, void* data, la_int64_t offset, int whence) {
  auto& input = *static_cast<ArchiveInput*>(data);
  const auto size = static_cast<std::int64_t>(input.file->size_bytes());
  const std::int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? input.position : size;
  input.position = std::clamp<std::int64_t>(from + offset, 0, size);
  return input.position;
}

la_int64_t skip(archive* handle, void* data, la_int64_t bytes) {
  const std::int64_t before = static_cast<ArchiveInput*>(data)->position;
  return seek(handle, data, bytes, SEEK_CUR) - before;
}

std::string reason_of(archive* handle) {
  const char* words = archive_error_string(handle);
  std::string reason = words == nullptr ? "no reason given" : words;
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  return reason;
}

/// libarchive says ENOMEM, or in words only (of its filters) that it could not allocate.
bool lacks_memory(archive* handle) {
  const std::string reason = reason_of(handle);
  return archive_errno(handle) == ENOMEM || reason.find("llocate") != std::string::npos ||
         reason.find("memory") != std::string::npos || reason.find("nitial") != std::string::npos;
}

/// bzip2, xz, lzma or zstd, as `head` says. libarchive undoes it and no other: left to choose, it
/// would undo up to 25 layers, and read a name in a header of gzip to its end.
int filter_of(std::string_view head) {
  if (looks_bzipped(head)) return ARCHIVE_FILTER_BZIP2;
  if (looks_lzma(head)) return ARCHIVE_FILTER_LZMA;
  return looks_xzipped(head) ? ARCHIVE_FILTER_XZ : ARCHIVE_FILTER_ZSTD;
}

/// libarchive converts names to the characters of the locale, of which "C", where programs begin,
/// has ASCII only: others would have no name at all. While this lives, the thread has all.
class AllCharacters {
 public:
  AllCharacters() : before_(utf8() == nullptr ? nullptr : uselocale(utf8())) {}
  ~AllCharacters() {
    if (before_ != nullptr) uselocale(before_);
  }
  AllCharacters(const AllCharacters&) = delete;
  AllCharacters& operator=(const AllCharacters&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }

  locale_t before_;
};

struct ArchiveDeleter {
  void operator()(archive* handle) const { archive_read_free(handle); }
};

}  // namespace

struct ArchiveWalk::State {
  State(const std::string& file_path, const SourceLimits& limits)
      : path(file_path),
        input(file_path),
        limit(limits.decompressed_bytes(input.file->size_bytes())),
        handle(archive_read_new()) {
    require_handle();
  }

  State(std::unique_ptr<ByteSource> stream, std::uint64_t limit_bytes)
      : path(stream->name()),
        input(std::move(stream)),
        limit(limit_bytes),
        handle(archive_read_new()) {
    require_handle();
  }

  void require_handle() const {
    if (handle == nullptr) throw MemoryError(path + ": not enough memory to decompress");
  }

  void open(ArchiveLayout layout) {
    // libarchive may crash where its own allocations fail: better no memory here than there.
    { const Buffer<char> room_for_its_tables(1 << 20); }
    int status = ARCHIVE_OK;
    if (layout == ArchiveLayout::single_file) {
      status = archive_read_append_filter(handle.get(), filter_of(head()));
      archive_read_support_format_raw(handle.get());
      archive_read_support_format_empty(handle.get());
    } else {
      if (input.file != nullptr) require_zip_end();
      archive_read_support_format_tar(handle.get());
      archive_read_support_format_zip(handle.get());
    }
    archive_read_set_read_callback(handle.get(), read_block);
    if (input.file != nullptr) {
      archive_read_set_seek_callback(handle.get(), seek);
      archive_read_set_skip_callback(handle.get(), skip);
    }
    archive_read_set_callback_data(handle.get(), &input);
    // A file that cannot be undone for want of memory opens as an empty one, with an error. An
    // archive may open with one: zip looks for its end, which a stream does not let it.
    if (status != ARCHIVE_OK || archive_read_open1(handle.get()) != ARCHIVE_OK ||
        (layout == ArchiveLayout::single_file && archive_errno(handle.get()) != 0)) {
      refuse_damaged(path);
    }
  }

  /// The first bytes of the file.
  std::string head() {
    const auto size = std::min<std::uint64_t>(kCompressedHeadBytes, input.file->size_bytes());
    std::string bytes(size, '\0');
    input.file->read_at(0, bytes.data(), bytes.size());
    return bytes;
  }

  /// A zip archive ends with the list of its members. libarchive does without it where it is
  /// missing, and an archive that is cut behind a member would look whole, without those that
  /// followed.
  void require_zip_end() {
    constexpr std::string_view kBegin = "PK\x03\x04", kEnd = "PK\x05\x06";
    constexpr std::uint64_t kLongestEnd = 22 + 65535;  // a record, and its comment
    if (head().substr(0, kBegin.size()) != kBegin) return;
    const std::uint64_t size = input.file->size_bytes();
    std::string end(std::min(size, kLongestEnd), '\0');
    input.file->read_at(size - end.size(), end.data(), end.size());
    if (end.find(kEnd) != std::string::npos) return;
    refuse_damaged_data(path, size, "the list of its members is missing");
  }

  /// Throws if it was the system that refused, not the content.
  void refuse_system(const std::string& name) const {
    if (input.has_failed()) input.fail();
    if (!lacks_memory(handle.get())) return;
    throw MemoryError(name + ": not enough memory to decompress (" + reason_of(handle.get()) + ")");
  }

  [[noreturn]] void refuse_damaged(const std::string& name) const {
    refuse_system(name);
    if (entry != nullptr && archive_entry_is_encrypted(entry) != 0) {
      throw InputError(name + ": byte " + std::to_string(position()) +
                       ": expected data without a password, found an encrypted archive; unpack it");
    }
    refuse_damaged_data(name, position(), reason_of(handle.get()));
  }

  /// In the compressed bytes.
  std::uint64_t position() const {
    return static_cast<std::uint64_t>(archive_filter_bytes(handle.get(), -1));
  }

  /// libarchive takes what follows a bzip2 stream and begins no other for nothing at all: the rest
  /// of the data, where the beginning of a later stream is damaged. Zeros are no data: tapes and
  /// some programs fill the last block with them.
  void require_all_read(const std::string& name) const {
    std::array<char, 4096> block;
    const std::uint64_t size = input.file->size_bytes();
    for (std::uint64_t at = position(); at < size;) {
      const std::uint64_t bytes = std::min<std::uint64_t>(size - at, block.size());
      input.file->read_at(at, block.data(), bytes);
      if (std::any_of(block.begin(), block.begin() + bytes, [](char c) { return c != 0; })) {
        refuse_damaged_data(name, position(), "what follows begins no other stream");
      }
      at += bytes;
    }
  }

  /// Of a stream, as far as the next header. libarchive would skip without any limit.
  void skip_data() {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    for (;;) {
      const int status = archive_read_data_block(handle.get(), &data, &size, &offset);
      if (status == ARCHIVE_EOF) return;
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) refuse_damaged(path);
      skipped += size;
      if (skipped > limit) refuse_expansion(path, limit);
    }
  }

  std::string path;
  ArchiveInput input;
  std::uint64_t limit, skipped = 0, members = 0;
  std::unique_ptr<archive, ArchiveDeleter> handle;  // reads through `input`, so it goes first
  archive_entry* entry = nullptr;
  bool is_single_file = false;
  bool is_compressed = false;  // the file itself, and nothing of it was read
};

ArchiveWalk::ArchiveWalk(const std::string& path, ArchiveLayout layout, const SourceLimits& limits)
    : state_(std::make_unique<State>(path, limits)) {
  state_->open(layout);
  state_->is_single_file = state_->is_compressed = layout == ArchiveLayout::single_file;
}

ArchiveWalk::ArchiveWalk(std::unique_ptr<ByteSource> stream, std::uint64_t limit_bytes)
    : state_(std::make_unique<State>(std::move(stream), limit_bytes)) {
  state_->open(ArchiveLayout::members);
}

ArchiveWalk::~ArchiveWalk() = default;
ArchiveWalk::ArchiveWalk(ArchiveWalk&&) noexcept = default;

bool ArchiveWalk::next() {
  State& state = *state_;
  if (state.input.stream != nullptr && state.members > 0) state.skip_data();
  state.input.header_room = kMostHeaderBytes;
  const AllCharacters in_names;
  const int status = archive_read_next_header(state.handle.get(), &state.entry);
  state.input.header_room = kNoLimit;
  if (state.input.has_failed()) state.input.fail();
  if (status == ARCHIVE_EOF) return false;
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) state.refuse_damaged(state.path);
  constexpr std::uint64_t kMostMembers = 1000000;
  if (++state.members > kMostMembers) {
    throw InputError(state.path + ": expected at most " + std::to_string(kMostMembers) +
                     " members in an archive, found more; unpack it");
  }
  return true;
}

bool ArchiveWalk::is_regular_file() const {
  return archive_entry_filetype(state_->entry) == AE_IFREG;
}

ArchiveMember ArchiveWalk::member() const {
  const AllCharacters in_names;
  const char* name = archive_entry_pathname(state_->entry);
  return {name == nullptr ? "" : name,
          archive_entry_size_is_set(state_->entry) ? archive_entry_size(state_->entry) : -1};
}

std::size_t ArchiveWalk::read(char* to, std::size_t capacity, const std::string& name) {
  const la_ssize_t count = archive_read_data(state_->handle.get(), to, capacity);
  if (count < 0) state_->refuse_damaged(name);
  if (count == 0 && state_->input.has_failed()) state_->input.fail();
  if (count == 0 && state_->is_single_file) state_->require_all_read(name);
  if (std::exchange(state_->is_compressed, false)) {
    require_compressed_once({to, static_cast<std::size_t>(count)}, name);
  }
  return static_cast<std::size_t>(count);
}

std::uint64_t ArchiveWalk::limit_bytes() const { return state_->limit; }

void refuse_expansion(const std::string& name, std::uint64_t limit) {
  throw InputError(name + ": expected at most " + counted(limit, "byte") +
                   " when decompressed, found more; if this is no bomb, raise "
                   "--max-expansion");
}

}  // namespace csrkit
