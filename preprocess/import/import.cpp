#include "preprocess/import/import.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <future>

#include "core/csr_file.h"
#include "preprocess/import/byte_source.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/import/line_reader.h"

namespace csrkit {

namespace {

constexpr std::size_t kPeekBytes = 1 << 16;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What detection looks at; owns the bytes that the peek borrows.
struct PeekedFile {
  std::string disk_head, head;
  Peek peek;
};

bool is_tar_head(std::string_view head) {
  constexpr std::size_t kMagicAt = 257;
  return head.size() >= kMagicAt + 5 && head.substr(kMagicAt, 5) == "ustar";
}

void peek_at(const std::string& path, PeekedFile& file) {
  Peek& peek = file.peek;
  peek.path = path;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    throw IoError(path + ": cannot be opened: " + std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    peek.is_directory = true;
    return;
  }
  const std::unique_ptr<ByteSource> source = open_file(path);
  peek.size_bytes = static_cast<std::uint64_t>(status.st_size);
  file.head.resize(kPeekBytes);
  file.head.resize(source->read(file.head.data(), kPeekBytes));
  char next = 0;
  peek.head_is_whole = source->read(&next, 1) == 0;
  file.disk_head = file.head;
  if (source->is_compressed()) {
    file.disk_head.assign(kPeekBytes, '\0');
    std::ifstream raw(path, std::ios::binary);
    raw.read(file.disk_head.data(), static_cast<std::streamsize>(kPeekBytes));
    file.disk_head.resize(static_cast<std::size_t>(raw.gcount()));
  }
  peek.head = file.head;
  if (starts_with_byte_order_mark(peek.head)) peek.head.remove_prefix(kByteOrderMark.size());
  peek.disk_head = file.disk_head;
  peek.is_tar = is_tar_head(peek.head);
  peek.is_zip = peek.head.substr(0, 2) == "PK" &&
                (peek.head.substr(2, 2) == "\x03\x04" || peek.head.substr(2, 2) == "\x05\x06");
  if (peek.is_zip) {
    for (const ArchiveMember& member : list_archive(path)) peek.members.push_back(member.name);
  }
}

std::string format_names() {
  std::string names;
  for (const FormatReader& reader : format_readers()) {
    names += (names.empty() ? "" : ", ") + std::string(reader.name);
  }
  return names;
}

const FormatReader& detect_format(const std::string& path) {
  PeekedFile file;
  peek_at(path, file);
  for (const FormatReader& reader : format_readers()) {
    if (reader.matches(file.peek)) return reader;
  }
  std::string reason = ": expected a file of a known format, found none of them in its content";
  if (file.peek.is_directory) {
    reason = ": expected the folder of a dataset, found none of its files";
  } else if (file.peek.head.empty()) {
    reason = ": expected a matrix, found an empty file";
  } else if (is_csr_file(path)) {
    reason = ": expected a file of another program, found a .csr file, which needs no import";
  }
  throw InputError(path + reason + "; if you know the format, say so with --format (" +
                   format_names() + ")");
}

const FormatReader& find_format(const std::string& name) {
  for (const FormatReader& reader : format_readers()) {
    if (name == reader.name) return reader;
  }
  throw UsageError("unknown import format \"" + name + "\"; there are: auto, " + format_names());
}

void require_obeyable(const FormatReader& reader, const ImportOptions& options) {
  const auto require = [&](bool is_given, FormatOptions option, const char* flag) {
    if (is_given && (reader.options & option) == 0) {
      throw UsageError(std::string("the format ") + reader.name + " cannot obey " + flag +
                       ", its files say so themselves; leave the option out");
    }
  };
  require(options.index_base != -1, kIndexBase, "--index-base");
  require(options.rows != 0, kSizes, "--rows");
  require(options.cols != 0, kSizes, "--cols");
  require(options.add_inverse != -1, kAddInverse, "--add-inverse");
  if (options.index_base < -1 || options.index_base > 1) {
    throw UsageError("expected --index-base 0 or 1, found " + std::to_string(options.index_base));
  }
  if (options.rows < 0 || options.cols < 0) {
    throw UsageError("expected --rows and --cols above 0");
  }
}

}  // namespace

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats = [] {
    std::vector<ImportFormat> rows;
    for (const FormatReader& reader : format_readers())
      rows.push_back({reader.name, reader.summary});
    return rows;
  }();
  return formats;
}

ImportResult import_matrix(const std::string& path, const ImportOptions& options) {
  const double begin = now_seconds();
  const ValueKind kind = wanted_kind(options, ValueKind::none);  // a wrong name is refused early
  const FormatReader& reader =
      options.format == "auto" ? detect_format(path) : find_format(options.format);
  require_obeyable(reader, options);

  // The digest of a single file is taken while it is parsed: it needs a small part of one core, and
  // reads ahead for the parser. An unreadable path is the reader's to report.
  struct stat status {};
  const bool is_file = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  std::future<ImportInput> main_input;
  if (is_file) main_input = std::async(std::launch::async, describe_input, path);

  ImportResult result = reader.read(path, options);
  result.format = reader.name;
  for (ImportInput& input : result.inputs) {
    input =
        input.path == path && main_input.valid() ? main_input.get() : describe_input(input.path);
  }
  validate(result.matrix, path);
  if (options.value_kind != "auto" && kind != result.matrix.value_kind()) {
    result.matrix = convert_values(result.matrix, kind);
  }
  result.read_seconds = now_seconds() - begin - result.sort_seconds;
  return result;
}

}  // namespace csrkit
