#include "preprocess/export/byte_sink.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include "core/base/buffer.h"
#include "core/base/error.h"

namespace csrkit {

namespace {

/// libarchive is C: an exception must not pass through it, so the reason is kept in its error text.
la_ssize_t write_to_file(archive* handle, void* file, const void* data, std::size_t bytes) {
  try {
    static_cast<AtomicFile*>(file)->write(data, bytes);
    return static_cast<la_ssize_t>(bytes);
  } catch (const std::exception& error) {
    archive_set_error(handle, EIO, "%s", error.what());
    return -1;
  }
}

void require_ok(archive* handle, int status, const std::string& path) {
  if (status == ARCHIVE_OK) return;
  const char* text = archive_error_string(handle);
  const std::string reason = text != nullptr ? text : "no reason given";
  // Our own sentence, from write_to_file, names the file, which may be called memory.
  if (reason.find("'" + path + "'") != std::string::npos) throw IoError(reason);
  // libarchive says ENOMEM, or in words only (of its filters and formats) that it could not
  // allocate.
  if (archive_errno(handle) == ENOMEM || reason.find("llocate") != std::string::npos ||
      reason.find("memory") != std::string::npos || reason.find("init") != std::string::npos) {
    throw MemoryError(path + ": not enough memory to compress (" + reason + ")");
  }
  throw IoError("cannot write '" + path + "': " + reason);
}

archive* new_archive(const std::string& path) {
  // libarchive may crash where its own allocations fail: better no memory here than there.
  { const Buffer<char> room_for_its_tables(1 << 20); }
  archive* handle = archive_write_new();
  if (handle == nullptr) throw MemoryError(path + ": not enough memory to compress");
  // Whole blocks only make sense on tapes; the last one must not be padded.
  archive_write_set_bytes_per_block(handle, 1 << 16);
  archive_write_set_bytes_in_last_block(handle, 1);
  return handle;
}

void write_all(archive* handle, const void* data, std::uint64_t bytes, const std::string& path) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const std::size_t step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1u << 30));
    const la_ssize_t count = archive_write_data(handle, from, step);
    if (count <= 0) require_ok(handle, ARCHIVE_FATAL, path);
    from += count;
    bytes -= static_cast<std::uint64_t>(count);
  }
}

void begin_entry(archive* handle, const std::string& name, std::int64_t bytes,
                 const std::string& path) {
  archive_entry* entry = archive_entry_new();
  if (entry == nullptr) throw MemoryError(path + ": not enough memory to compress");
  archive_entry_set_pathname(entry, name.c_str());
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, 0644);
  if (bytes >= 0) archive_entry_set_size(entry, bytes);
  const int status = archive_write_header(handle, entry);
  archive_entry_free(entry);
  require_ok(handle, status, path);
}

class PlainSink : public ByteSink {
 public:
  explicit PlainSink(const std::string& path) : file_(path) {}
  void write(const char* data, std::size_t bytes) override { file_.write(data, bytes); }
  void finish() override { file_.commit(); }

 private:
  AtomicFile file_;
};

/// What was written before a failure has gone to the reader: there is no name to hold back.
class StandardOutput : public ByteSink {
 public:
  void write(const char* data, std::size_t bytes) override {
    while (bytes > 0) {
      const ssize_t written = ::write(STDOUT_FILENO, data, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        throw IoError(std::string("standard output: ") + std::strerror(errno) +
                      "; the matrix could not be written whole");
      }
      data += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }
  void finish() override {}
};

}  // namespace

std::unique_ptr<ByteSink> plain_sink(const std::string& path) {
  return std::make_unique<PlainSink>(path);
}

std::unique_ptr<ByteSink> text_sink(const std::string& path) {
  if (path == "-") return std::make_unique<StandardOutput>();
  return plain_sink(path);
}

ZipWriter::ZipWriter(const std::string& path) : file_(path), handle_(new_archive(path)) {
  require_ok(handle_, archive_write_set_format_zip(handle_), path);
  // Level 1 keeps the compressor at a useful speed; sorted columns shrink about as well.
  require_ok(handle_, archive_write_set_options(handle_, "zip:compression=deflate"), path);
  require_ok(handle_, archive_write_set_options(handle_, "zip:compression-level=1"), path);
  require_ok(handle_, archive_write_open(handle_, &file_, nullptr, write_to_file, nullptr), path);
}

ZipWriter::~ZipWriter() { archive_write_free(handle_); }

void ZipWriter::begin_member(const std::string& name, std::uint64_t bytes) {
  begin_entry(handle_, name, static_cast<std::int64_t>(bytes), file_.path());
}

void ZipWriter::write(const void* data, std::uint64_t bytes) {
  write_all(handle_, data, bytes, file_.path());
}

void ZipWriter::finish() {
  require_ok(handle_, archive_write_close(handle_), file_.path());
  file_.commit();
}

}  // namespace csrkit
