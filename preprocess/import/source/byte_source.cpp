#include "preprocess/import/source/byte_source.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "core/base/input_file.h"
#include "preprocess/import/source/gzip_source.h"

namespace csrkit {

namespace {

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

class PlainFileSource : public ByteSource {
 public:
  PlainFileSource(std::unique_ptr<MappedFile> file, std::string name, const SourceLimits& limits)
      : ByteSource(std::move(name), limits), file_(std::move(file)) {}

  std::string_view mapped() const override { return file_->bytes(); }
  std::int64_t size_bytes() const override { return static_cast<std::int64_t>(mapped().size()); }

  std::size_t read(char* to, std::size_t capacity) override {
    const std::size_t count = std::min(capacity, mapped().size() - position_);
    std::copy_n(mapped().data() + position_, count, to);
    position_ += count;
    return count;
  }

 private:
  std::unique_ptr<MappedFile> file_;
  std::size_t position_ = 0;
};

class ArchiveSource : public ByteSource {
 public:
  ArchiveSource(ArchiveWalk walk, bool is_at_end, std::string name, const SourceLimits& limits)
      : ByteSource(std::move(name), limits), walk_(std::move(walk)), is_at_end_(is_at_end) {}

  bool is_compressed() const override { return true; }

  std::size_t read(char* to, std::size_t capacity) override {
    std::size_t done = 0;
    while (done < capacity && !is_at_end_) {
      const std::size_t count = walk_.read(to + done, capacity - done, name());
      is_at_end_ = count == 0;
      done += count;
    }
    size_ += done;
    if (size_ > walk_.limit_bytes()) refuse_expansion(name(), walk_.limit_bytes());
    return done;
  }

 private:
  ArchiveWalk walk_;
  bool is_at_end_ = false;
  std::uint64_t size_ = 0;
};

ArchiveWalk walk_of(const ArchivePlace& archive, const SourceLimits& limits) {
  const std::uint64_t limit = limits.decompressed_bytes(InputFile(archive.file).size_bytes());
  if (!archive.member.empty()) {
    return ArchiveWalk(open_archive_member(archive.file, archive.member, limits), limit);
  }
  std::unique_ptr<ByteSource> file = open_file(archive.file, limits);
  if (file->is_compressed()) return ArchiveWalk(std::move(file), limit);
  return ArchiveWalk(archive.file, ArchiveLayout::members, limits);
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
  if (looks_gzipped(file->bytes())) {
    const std::uint64_t limit = limits.decompressed_bytes(file->bytes().size());
    return gunzipped(std::make_unique<PlainFileSource>(std::move(file), path, limits), limit);
  }
  ArchiveWalk walk(path, ArchiveLayout::single_file, limits);
  const bool is_empty = !walk.next();
  return std::make_unique<ArchiveSource>(std::move(walk), is_empty, path, limits);
}

std::vector<ArchiveMember> list_archive(const ArchivePlace& archive, const SourceLimits& limits) {
  ArchiveWalk walk = walk_of(archive, limits);
  std::vector<ArchiveMember> members;
  while (walk.next()) {
    if (walk.is_regular_file()) members.push_back(walk.member());
  }
  return members;
}

std::unique_ptr<ByteSource> open_archive_member(const ArchivePlace& archive,
                                                const std::string& member,
                                                const SourceLimits& limits) {
  ArchiveWalk walk = walk_of(archive, limits);
  while (walk.next()) {
    if (!walk.is_regular_file() || walk.member().name != member) continue;
    return std::make_unique<ArchiveSource>(std::move(walk), false,
                                           archive.name() + "(" + member + ")", limits);
  }
  throw InputError(archive.name() + ": expected an archive member called " + member +
                   ", found none");
}

}  // namespace csrkit
