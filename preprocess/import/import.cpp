#include "preprocess/import/import.h"

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <future>

#include "core/base/stopwatch.h"
#include "core/base/suggestion.h"
#include "core/base/text.h"
#include "core/file/csr_file.h"
#include "core/matrix/overflow.h"
#include "preprocess/import/foreign_file.h"
#include "preprocess/import/format_reader.h"
#include "preprocess/import/name_promise.h"
#include "preprocess/import/source/byte_source.h"
#include "preprocess/import/source/line_reader.h"
#include "preprocess/import/source/pipe_source.h"

namespace csrkit {

namespace {

constexpr std::size_t kPeekBytes = 1 << 16;

/// What detection looks at; owns the bytes that the peek borrows.
struct PeekedFile {
  std::string disk_head, head;
  Peek peek;
};

bool is_tar_head(std::string_view head) {
  constexpr std::size_t kMagicAt = 257;
  return head.size() >= kMagicAt + 5 && head.substr(kMagicAt, 5) == "ustar";
}

void peek_at_text(Peek& peek, std::string_view head) {
  peek.head = head;
  if (starts_with_byte_order_mark(head)) peek.head.remove_prefix(kByteOrderMark.size());
}

void peek_at(const std::string& path, const SourceLimits& limits, PeekedFile& file) {
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
  const std::unique_ptr<ByteSource> source = open_file(path, limits);
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
  peek_at_text(peek, file.head);
  peek.disk_head = file.disk_head;
  peek.is_tar = is_tar_head(peek.head);
  peek.is_zip = peek.head.substr(0, 2) == "PK" &&
                (peek.head.substr(2, 2) == "\x03\x04" || peek.head.substr(2, 2) == "\x05\x06");
  if (peek.is_zip) {
    for (const ArchiveMember& member : list_archive(path, limits))
      peek.members.push_back(member.name);
  }
}

std::string format_names() {
  std::string names;
  for (const FormatReader& reader : format_readers()) {
    append_item(names, reader.format.name);
  }
  return names;
}

std::string streamed_names() {
  std::string names;
  for (const FormatReader& reader : format_readers()) {
    if (reader.format.can_stream) append_item(names, reader.format.name, " or ");
  }
  return names;
}

void require_streamed(const FormatReader& reader, const std::string& path) {
  if (reader.format.can_stream) return;
  throw IoError("cannot read '" + path + "': expected a regular file, found a pipe, which only " +
                streamed_names() + " can come through; save its content in a file first");
}

const FormatReader& detect_streamed(const PipeSource& pipe) {
  Peek peek;
  peek_at_text(peek, pipe.head());
  peek.disk_head = pipe.head();
  peek.head_is_whole = pipe.head_is_whole();
  for (const FormatReader& reader : format_readers()) {
    if (!reader.format.can_stream || !reader.matches(peek)) continue;
    require_promise_kept(pipe.name(), &reader);
    return reader;
  }
  const std::string lone_cr = found_lone_cr(peek.head);
  throw InputError(pipe.name() + ": byte 0: expected " + streamed_names() + " from a pipe, " +
                   (!lone_cr.empty() ? lone_cr
                                     : std::string("found ") +
                                           (pipe.head().empty() ? "nothing" : "something else") +
                                           "; save other formats in a file first"));
}

const FormatReader& detect_format(const std::string& path, const SourceLimits& limits) {
  PeekedFile file;
  peek_at(path, limits, file);
  for (const FormatReader& reader : format_readers()) {
    if (!reader.matches(file.peek)) continue;
    if (!file.peek.is_directory) require_promise_kept(path, &reader);
    return reader;
  }
  if (!file.peek.is_directory && file.peek.head.empty()) {
    throw InputError(path + ": expected a matrix, found an empty file");
  }
  if (!file.peek.is_directory && is_csr_file(path)) {
    throw InputError(path +
                     ": expected a file of another program, found a .csr file, which needs no "
                     "import: give it to the other tools as it is");
  }
  std::string reason = ": expected the folder of a dataset, found none of its files";
  if (!file.peek.is_directory) {
    const std::string foreign = foreign_file(file.peek);
    if (!foreign.empty()) throw InputError(path + ": byte 0: expected a known format, " + foreign);
    require_promise_kept(path, nullptr);
    const std::string text = unknown_text(file.peek);
    reason = ": expected a file of a known format, " +
             (text.empty() ? "found none of them in its content" : text);
  }
  throw InputError(path + reason + "; if you know the format, say so with --format (" +
                   format_names() + ")");
}

const FormatReader& find_format(const std::string& name) {
  for (const FormatReader& reader : format_readers()) {
    if (name == reader.format.name) return reader;
  }
  // mtx is a slip for smtx, but more likely the ending of Matrix Market's files.
  const std::string of_ending = format_of_ending("." + name);
  throw UsageError("there is no import format called '" + name + "'; there are auto, " +
                   format_names() +
                   (of_ending.empty() ? did_you_mean(name, "auto, " + format_names())
                                      : "; did you mean '" + of_ending + "'?"));
}

void note_underflow(ImportResult& result) {
  const ValueKind kind = result.matrix.value_kind();
  if (kind == ValueKind::none) result.underflow = {};  // no value is kept at all
  if (result.underflow.count == 0) return;
  result.warnings.push_back(text_of(result.underflow, kind) + "; they become 0" +
                            (kind == ValueKind::f64
                                 ? ": no kind here is wider, scale the values before"
                                 : ": a wider --value-kind keeps them"));
}

}  // namespace

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> formats = [] {
    std::vector<ImportFormat> rows;
    for (const FormatReader& reader : format_readers()) rows.push_back(reader.format);
    return rows;
  }();
  return formats;
}

ImportResult import_matrix(const std::string& path, const ImportOptions& options) {
  const Stopwatch watch;
  const ValueKind kind =
      wanted_kind(options.value_kind, ValueKind::none);  // a wrong name is refused early
  const FormatReader* reader = options.format == "auto" ? nullptr : &find_format(options.format);
  std::shared_ptr<PipeSource> pipe;
  if (is_pipe(path)) {
    if (reader != nullptr) require_streamed(*reader, path);
    pipe = std::make_shared<PipeSource>(path, options.limits);
  }
  if (reader == nullptr) {
    reader = pipe ? &detect_streamed(*pipe) : &detect_format(path, options.limits);
  }
  const Parameters parameters = parameters_of(import_formats(), reader->format, options.parameters);

  // The digest of a single file is computed while the file is parsed. It needs a small part of one
  // core, and reads ahead for the parser. The reader reports an unreadable path.
  struct stat status {};
  const bool is_file = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  std::atomic<bool> is_cancelled{false};
  struct Canceller {  // of the digest of a huge file whose first line is refused already
    std::atomic<bool>& flag;
    ~Canceller() { flag = true; }
  };
  std::future<FileDigest> main_input;
  const Canceller canceller{is_cancelled};
  if (is_file) main_input = std::async(std::launch::async, digest_file, path, &is_cancelled);

  ImportResult result = reader->read(path, {parameters, options.duplicates, options.value_kind,
                                            options.progress, options.limits, pipe});
  result.format = reader->format.name;
  for (FileDigest& input : result.inputs) {
    if (pipe) {
      input = pipe->finish();
      continue;
    }
    input = input.path == path && main_input.valid() ? main_input.get() : digest_file(input.path);
  }
  validate(result.matrix, path);
  if (options.value_kind != "auto" && kind != result.matrix.value_kind()) {
    const std::string too_large = overflow_in(result.matrix, kind);
    if (!too_large.empty()) {
      throw InputError(path + ": expected values that " + name_of(kind) + " can hold, found " +
                       too_large + "; a wider --value-kind may hold them");
    }
    const Underflow converted = underflow_in(result.matrix, kind);
    if (result.underflow.count == 0) result.underflow.first = converted.first;
    result.underflow.count += converted.count;
    result.matrix = convert_values(result.matrix, kind);
  }
  note_underflow(result);
  result.read_seconds = watch.seconds() - result.sort_seconds;
  return result;
}

}  // namespace csrkit
