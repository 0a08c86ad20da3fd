#include "preprocess/import/byte_source.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/input_file.h"
#include "preprocess/import/crc32.h"

namespace csrkit {

namespace {

constexpr std::size_t kArchiveBlockBytes = 1 << 18;

/// A regular file, mapped for reading; empty files have no mapping.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const InputFile file(path);
    size_ = file.size_bytes();
    if (size_ == 0) return;
    void* mapping = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (mapping == MAP_FAILED && errno == ENOMEM) {
      throw MemoryError("not enough address space to map '" + path + "': " + std::to_string(size_) +
                        " bytes are needed; raise the limit (ulimit -v)");
    }
    if (mapping == MAP_FAILED) file.fail("it cannot be mapped", errno);
    data_ = static_cast<const char*>(mapping);
    madvise(mapping, size_, MADV_SEQUENTIAL);
  }
  ~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::string name, const SourceLimits& limits)
      : ByteSource(std::move(name), limits), bytes_(bytes) {}

  std::string_view mapped() const override { return bytes_; }
  std::int64_t size_bytes() const override { return static_cast<std::int64_t>(bytes_.size()); }

  std::size_t read(char* to, std::size_t capacity) override {
    const std::size_t count = std::min(capacity, bytes_.size() - position_);
    std::copy_n(bytes_.data() + position_, count, to);
    position_ += count;
    return count;
  }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

class PlainFileSource : public MemorySource {
 public:
  PlainFileSource(std::unique_ptr<MappedFile> file, std::string name, const SourceLimits& limits)
      : MemorySource(file->bytes(), std::move(name), limits), file_(std::move(file)) {}

 private:
  std::unique_ptr<MappedFile> file_;
};

struct ArchiveDeleter {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
using ArchiveHandle = std::unique_ptr<archive, ArchiveDeleter>;

enum class Layout { single_file, members };

std::string reason_of(archive* handle) {
  const char* reason = archive_error_string(handle);
  return reason == nullptr ? "no reason given" : reason;
}

/// libarchive says ENOMEM, or in words only (of its filters) that it could not allocate.
void refuse_lack_of_memory(archive* handle, const std::string& name) {
  const std::string reason = reason_of(handle);
  if (archive_errno(handle) != ENOMEM && reason.find("llocate") == std::string::npos &&
      reason.find("memory") == std::string::npos) {
    return;
  }
  throw MemoryError(name + ": not enough memory to decompress (" + reason + ")");
}

ArchiveHandle open_libarchive(const std::string& path, Layout layout) {
  ArchiveHandle handle(archive_read_new());
  if (handle == nullptr) throw MemoryError(path + ": not enough memory to decompress");
  archive_read_support_filter_gzip(handle.get());
  archive_read_support_filter_bzip2(handle.get());
  archive_read_support_filter_xz(handle.get());
  archive_read_support_filter_zstd(handle.get());
  if (layout == Layout::single_file) {
    archive_read_support_format_raw(handle.get());
    archive_read_support_format_empty(handle.get());
  } else {
    archive_read_support_format_tar(handle.get());
    archive_read_support_format_zip(handle.get());
  }
  if (archive_read_open_filename(handle.get(), path.c_str(), kArchiveBlockBytes) != ARCHIVE_OK) {
    refuse_lack_of_memory(handle.get(), path);
    const int code = archive_errno(handle.get());
    const std::string message = path + ": cannot be read: " + reason_of(handle.get());
    // EILSEQ is how libarchive says that it does not know the format: the content, not the system.
    if (code > 0 && code < 200 && code != EILSEQ) throw IoError(message);
    throw InputError(message + "; is the file damaged?");
  }
  return handle;
}

[[noreturn]] void refuse_damaged(archive* handle, const std::string& name) {
  refuse_lack_of_memory(handle, name);
  throw InputError(name + ": the compressed data is damaged or cut short (" + reason_of(handle) +
                   "); fetch the file again");
}

int compressions_of(archive* handle) {
  int count = 0;
  for (int i = 0; i < archive_filter_count(handle); ++i) {
    count += archive_filter_code(handle, i) != ARCHIVE_FILTER_NONE;
  }
  return count;
}

[[noreturn]] void refuse_expansion(const std::string& name, std::uint64_t limit) {
  throw InputError(name + ": expected at most " + std::to_string(limit) +
                   " bytes when decompressed, found more; if this is no bomb, raise "
                   "--max-expansion");
}

/// An archive, member by member, within the limits.
class MemberWalk {
 public:
  MemberWalk(const std::string& path, Layout layout, const SourceLimits& limits)
      : path_(path),
        handle_(open_libarchive(path, layout)),
        limit_(limits.decompressed_bytes(InputFile(path).size_bytes())),
        is_compressed_(compressions_of(handle_.get()) > 0) {
    if (compressions_of(handle_.get()) > 1) {
      throw InputError(path +
                       ": byte 0: expected a file that is compressed once, found one that is "
                       "compressed several times; decompress it once");
    }
  }

  /// The next member, or null at the end.
  archive_entry* next() {
    if (is_compressed_ && count_ > 0) skip_data();  // libarchive would do so without any limit
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(handle_.get(), &entry);
    if (status == ARCHIVE_EOF) return nullptr;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) refuse_damaged(handle_.get(), path_);
    constexpr std::uint64_t kMostMembers = 1000000;
    if (++count_ > kMostMembers) {
      throw InputError(path_ + ": expected at most " + std::to_string(kMostMembers) +
                       " members in an archive, found more; unpack it");
    }
    return entry;
  }

  /// To go on reading the data of the member that came last.
  ArchiveHandle release() { return std::move(handle_); }
  std::uint64_t limit_bytes() const { return limit_; }

 private:
  void skip_data() {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    for (;;) {
      const int status = archive_read_data_block(handle_.get(), &data, &size, &offset);
      if (status == ARCHIVE_EOF) return;
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) refuse_damaged(handle_.get(), path_);
      skipped_ += size;
      if (skipped_ > limit_) refuse_expansion(path_, limit_);
    }
  }

  std::string path_;
  ArchiveHandle handle_;
  std::uint64_t limit_, skipped_ = 0, count_ = 0;
  bool is_compressed_;
};

std::string name_of_member(archive_entry* entry) {
  const char* name = archive_entry_pathname(entry);
  return name == nullptr ? std::string() : std::string(name);
}

/// The end of a gzip file: checksum and size (modulo 2^32) of what its last member holds.
struct GzipTrailer {
  std::uint32_t crc = 0, size = 0;
};

std::optional<GzipTrailer> gzip_trailer(std::string_view file) {
  if (file.size() < 18 || file.substr(0, 2) != "\x1f\x8b") return std::nullopt;
  const auto number_at = [&](std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 4; i-- > 0;)
      number = number << 8 | static_cast<unsigned char>(file[at + i]);
    return number;
  };
  return GzipTrailer{number_at(file.size() - 8), number_at(file.size() - 4)};
}

class ArchiveSource : public ByteSource {
 public:
  ArchiveSource(MemberWalk walk, bool is_at_end, std::string name, const SourceLimits& limits,
                std::optional<GzipTrailer> trailer = std::nullopt)
      : ByteSource(std::move(name), limits),
        limit_(walk.limit_bytes()),
        handle_(walk.release()),
        is_at_end_(is_at_end),
        trailer_(trailer) {}

  bool is_compressed() const override { return true; }

  std::size_t read(char* to, std::size_t capacity) override {
    std::size_t done = 0;
    while (done < capacity && !is_at_end_) {
      const la_ssize_t count = archive_read_data(handle_.get(), to + done, capacity - done);
      if (count < 0) refuse_damaged(handle_.get(), name());
      is_at_end_ = count == 0;
      done += static_cast<std::size_t>(count);
    }
    size_ += done;
    if (size_ > limit_) refuse_expansion(name(), limit_);
    if (trailer_) {
      crc_.update(to, done);
      if (is_at_end_) check_trailer();
    }
    return done;
  }

 private:
  /// libarchive ignores gzip's checksum. Files of several members (pigz -i, bgzip, cat) cannot be
  /// checked by the last trailer; its size, which is not that of the whole, gives them away.
  void check_trailer() {
    const GzipTrailer trailer = *std::exchange(trailer_, std::nullopt);
    if (trailer.size != static_cast<std::uint32_t>(size_) || trailer.crc == crc_.value()) return;
    throw InputError(name() +
                     ": the compressed data is damaged (its checksum does not match); fetch the "
                     "file again");
  }

  std::uint64_t limit_;
  ArchiveHandle handle_;
  bool is_at_end_ = false;
  std::optional<GzipTrailer> trailer_;
  Crc32 crc_;
  std::uint64_t size_ = 0;
};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool looks_compressed(std::string_view head) {
  using namespace std::string_view_literals;
  return starts_with(head, "\x1f\x8b\x08"sv) || starts_with(head, "BZh"sv) ||
         starts_with(head,
                     "\xfd"
                     "7zXZ\0"sv) ||
         starts_with(head, "\x28\xb5\x2f\xfd"sv);
}

}  // namespace

std::uint64_t SourceLimits::decompressed_bytes(std::uint64_t disk_bytes) const {
  std::uint64_t product = 0, sum = 0;
  const bool is_endless = __builtin_mul_overflow(expansion, disk_bytes, &product) ||
                          __builtin_add_overflow(product, kAlwaysBytes, &sum);
  return is_endless ? std::numeric_limits<std::uint64_t>::max() : sum;
}

std::unique_ptr<ByteSource> open_file(const std::string& path, const SourceLimits& limits) {
  auto file = std::make_unique<MappedFile>(path);
  if (!looks_compressed(file->bytes())) {
    return std::make_unique<PlainFileSource>(std::move(file), path, limits);
  }
  MemberWalk walk(path, Layout::single_file, limits);
  const bool is_empty = walk.next() == nullptr;
  return std::make_unique<ArchiveSource>(std::move(walk), is_empty, path, limits,
                                         gzip_trailer(file->bytes()));
}

std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, std::string name,
                                       const SourceLimits& limits) {
  return std::make_unique<MemorySource>(bytes, std::move(name), limits);
}

std::vector<ArchiveMember> list_archive(const std::string& path, const SourceLimits& limits) {
  MemberWalk walk(path, Layout::members, limits);
  std::vector<ArchiveMember> members;
  while (archive_entry* entry = walk.next()) {
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    members.push_back(
        {name_of_member(entry), archive_entry_size_is_set(entry) ? archive_entry_size(entry) : -1});
  }
  return members;
}

std::unique_ptr<ByteSource> open_archive_member(const std::string& path, const std::string& member,
                                                const SourceLimits& limits) {
  MemberWalk walk(path, Layout::members, limits);
  while (archive_entry* entry = walk.next()) {
    if (archive_entry_filetype(entry) != AE_IFREG || name_of_member(entry) != member) continue;
    return std::make_unique<ArchiveSource>(std::move(walk), false, path + "(" + member + ")",
                                           limits);
  }
  throw InputError(path + ": expected an archive member called " + member + ", found none");
}

Buffer<char> read_all(ByteSource& source, std::uint64_t limit_bytes) {
  Buffer<char> bytes(static_cast<Offset>(std::min<std::uint64_t>(limit_bytes, 1 << 16)) + 1);
  Offset size = 0;
  for (;;) {
    const std::size_t count =
        source.read(bytes.data() + size, static_cast<std::size_t>(bytes.size() - size));
    if (count == 0) break;
    size += static_cast<Offset>(count);
    if (static_cast<std::uint64_t>(size) > limit_bytes) {
      throw InputError(source.name() + ": expected at most " + std::to_string(limit_bytes) +
                       " bytes here, found more; is this the right kind of file?");
    }
    if (size == bytes.size()) {
      Buffer<char> larger(size * 2);
      std::copy_n(bytes.data(), size, larger.data());
      bytes = std::move(larger);
    }
  }
  bytes.truncate(size);
  return bytes;
}

}  // namespace csrkit
