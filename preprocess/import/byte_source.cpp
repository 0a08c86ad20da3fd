#include "preprocess/import/byte_source.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "preprocess/import/crc32.h"

namespace csrkit {

namespace {

constexpr std::size_t kArchiveBlockBytes = 1 << 18;

std::string system_reason() { return std::strerror(errno); }

/// A regular file, mapped for reading; empty files have no mapping.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw IoError(path + ": cannot be opened: " + system_reason());
    struct stat status {};
    if (fstat(descriptor, &status) != 0) {
      const std::string reason = system_reason();
      close(descriptor);
      throw IoError(path + ": cannot be examined: " + reason);
    }
    if (!S_ISREG(status.st_mode)) {
      close(descriptor);
      throw IoError(path + ": expected a regular file, found " +
                    (S_ISDIR(status.st_mode) ? "a folder" : "a pipe or device") +
                    "; save its content in a file first");
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) {
      void* mapping = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (mapping == MAP_FAILED) {
        const std::string reason = system_reason();
        close(descriptor);
        throw IoError(path + ": cannot be mapped: " + reason);
      }
      data_ = static_cast<const char*>(mapping);
      madvise(mapping, size_, MADV_SEQUENTIAL);
    }
    close(descriptor);
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
  MemorySource(std::string_view bytes, std::string name)
      : ByteSource(std::move(name)), bytes_(bytes) {}

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
  PlainFileSource(std::unique_ptr<MappedFile> file, std::string name)
      : MemorySource(file->bytes(), std::move(name)), file_(std::move(file)) {}

 private:
  std::unique_ptr<MappedFile> file_;
};

struct ArchiveDeleter {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
using ArchiveHandle = std::unique_ptr<archive, ArchiveDeleter>;

enum class Layout { single_file, members };

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
    const int code = archive_errno(handle.get());
    const char* reason = archive_error_string(handle.get());
    const std::string message = path + ": cannot be read: " + (reason ? reason : "unknown reason");
    // EILSEQ is how libarchive says that it does not know the format: the content, not the system.
    if (code > 0 && code < 200 && code != EILSEQ) throw IoError(message);
    throw InputError(message + "; is the file damaged?");
  }
  return handle;
}

[[noreturn]] void refuse_damaged(archive* handle, const std::string& name) {
  const char* reason = archive_error_string(handle);
  throw InputError(name + ": the compressed data is damaged or cut short (" +
                   (reason ? reason : "no reason given") + "); fetch the file again");
}

/// The next member, or null at the end.
archive_entry* next_member(archive* handle, const std::string& path) {
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(handle, &entry);
  if (status == ARCHIVE_EOF) return nullptr;
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) refuse_damaged(handle, path);
  return entry;
}

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
  ArchiveSource(ArchiveHandle handle, bool is_at_end, std::string name,
                std::optional<GzipTrailer> trailer = std::nullopt)
      : ByteSource(std::move(name)),
        handle_(std::move(handle)),
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
    if (trailer_) {
      crc_.update(to, done);
      size_ += done;
      if (is_at_end_) check_trailer();
    }
    return done;
  }

 private:
  /// libarchive leaves gzip's checksum unread. Files of several members (pigz -i, bgzip, cat) cannot
  /// be checked by the last trailer; they are told by its size, which is not that of the whole.
  void check_trailer() {
    const GzipTrailer trailer = *std::exchange(trailer_, std::nullopt);
    if (trailer.size != static_cast<std::uint32_t>(size_) || trailer.crc == crc_.value()) return;
    throw InputError(name() +
                     ": the compressed data is damaged (its checksum does not match); fetch the "
                     "file again");
  }

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

std::unique_ptr<ByteSource> open_file(const std::string& path) {
  auto file = std::make_unique<MappedFile>(path);
  if (!looks_compressed(file->bytes())) {
    return std::make_unique<PlainFileSource>(std::move(file), path);
  }
  ArchiveHandle handle = open_libarchive(path, Layout::single_file);
  const bool is_empty = next_member(handle.get(), path) == nullptr;
  return std::make_unique<ArchiveSource>(std::move(handle), is_empty, path,
                                         gzip_trailer(file->bytes()));
}

std::unique_ptr<ByteSource> open_bytes(std::string_view bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

std::vector<ArchiveMember> list_archive(const std::string& path) {
  const ArchiveHandle handle = open_libarchive(path, Layout::members);
  std::vector<ArchiveMember> members;
  while (archive_entry* entry = next_member(handle.get(), path)) {
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    members.push_back(
        {name_of_member(entry), archive_entry_size_is_set(entry) ? archive_entry_size(entry) : -1});
  }
  return members;
}

std::unique_ptr<ByteSource> open_archive_member(const std::string& path,
                                                const std::string& member) {
  ArchiveHandle handle = open_libarchive(path, Layout::members);
  while (archive_entry* entry = next_member(handle.get(), path)) {
    if (archive_entry_filetype(entry) != AE_IFREG || name_of_member(entry) != member) continue;
    return std::make_unique<ArchiveSource>(std::move(handle), false, path + "(" + member + ")");
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

ImportInput describe_input(const std::string& path) {
  const MappedFile file(path);
  const std::string_view bytes = file.bytes();
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(bytes.data(), bytes.size()));
  ImportInput input{path, bytes.size(), {}};
  for (const unsigned char byte : digest.digest) {
    input.xxh3_128 += "0123456789abcdef"[byte >> 4];
    input.xxh3_128 += "0123456789abcdef"[byte & 15];
  }
  return input;
}

}  // namespace csrkit
