#include "tools/bench/record_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/input_file.h"
#include "tools/bench/record_schema.h"
#include "tools/cli/log.h"

namespace csrkit {

struct OpenFile {
  explicit OpenFile(int opened) : number(opened) {}
  ~OpenFile() {
    if (number >= 0) close(number);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const int number;
};

namespace {

constexpr char kBeginning[] = "{\"schema\":";

/// Calls again as long as a signal interrupts the call.
template <class Call>
auto retried(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw IoError(path + ": cannot " + what + ": " + std::strerror(errno));
}

/// What to say of the first record or a later one that could not be appended, for the errno of now.
IoError refusal_of(const std::string& path, bool is_first) {
  const int reason = errno;
  const char* const first = reason == EFBIG                        ? "raise ulimit -f, then "
                            : reason == ENOSPC || reason == EDQUOT ? "make room there, then "
                                                                   : "";
  return IoError(path + ": cannot append a record: " + std::strerror(reason) +
                 (is_first ? "; there is none yet: " : "; the records before it are whole: ") +
                 first + (is_first ? "run this again" : "go on with --resume"));
}

/// False with errno where the system refuses.
bool write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t bytes =
        retried([&] { return write(descriptor, text.data() + done, text.size() - done); });
    if (bytes == 0) errno = ENOSPC;
    if (bytes <= 0) return false;
    done += static_cast<std::size_t>(bytes);
  }
  // Some file systems cannot sync.
  return retried([&] { return fsync(descriptor); }) == 0 || errno == EINVAL || errno == EROFS;
}

void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const OpenFile folder(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems refuse; the file itself is safe.
  if (folder.number >= 0) fsync(folder.number);
}

/// Writes the bytes into a new file beside `path`, and returns its name.
std::string keep_aside(const std::string& path, const std::string& bytes) {
  for (int count = 1;; ++count) {
    std::string name = path + ".cut" + (count == 1 ? "" : "." + std::to_string(count));
    const OpenFile file(
        retried([&] { return open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
    if (file.number < 0 && errno == EEXIST) continue;
    if (file.number < 0) fail(name, "keep the last line of the records, which was cut short");
    if (!write_all(file.number, bytes)) {
      const int reason = errno;
      unlink(name.c_str());
      errno = reason;
      fail(name, "keep the last line of the records, which was cut short");
    }
    sync_folder_of(name);
    return name;
  }
}

constexpr char kAdvice[] = "name a file that csr-bench --records wrote";

void require_record(const JsonField& line) {
  const JsonField schema = line["schema"];
  if (!is_known_schema(schema.value())) {
    schema.refuse("schema 1 to " + std::to_string(kRecordSchema));
  }
  for (const char* key : {"kernel", "matrix_xxh3_128"}) line["case"][key].text();
  for (const char* key : {"matrix", "status"}) line[key].text();
  if (line["status"].text() != "done") return;
  line["samples_seconds"].array();
  line["median_seconds"].number();
}

/// The beginning of a record, as a crash leaves it.
bool is_cut_record(std::string_view line) {
  const std::string_view beginning = kBeginning;
  return line.compare(0, beginning.size(), beginning, 0, line.size()) == 0;
}

struct ParsedRecords {
  std::vector<FiledRecord> records;
  std::uint64_t lines = 0;
  std::string cut_line;             // the last one, if it is no complete record
  std::uint64_t good_bytes = 0;     // before it
  bool is_newline_missing = false;  // of the last line
};

ParsedRecords parse_records(const std::string& path) {
  ParsedRecords parsed;
  for_each_line(path, kMaxJsonBytes, [&](const TextLine& line) {
    parsed.lines = line.number;
    if (!line.has_end && is_cut_record(line.text) && !try_parse_json(line.text)) {
      parsed.cut_line = line.text;
      return;
    }
    parsed.good_bytes = line.next_begin;
    parsed.is_newline_missing = !line.has_end;
    if (line.text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const std::string where =
        path + ":" + std::to_string(line.number) + ": expected a record of csr-bench";
    Json record = parse_json(line.text, where, kAdvice);
    require_record({record, where, kAdvice});
    parsed.records.push_back({upgraded_record(std::move(record)), line.number});
  });
  return parsed;
}

/// "out.jsonl:3: the last line": where what is wrong at the end stands.
std::string last_line(const std::string& path, const ParsedRecords& parsed) {
  return path + ":" + std::to_string(parsed.lines) + ": the last line";
}

}  // namespace

JsonField field_of(const FiledRecord& filed, const std::string& path) {
  return {filed.record,
          path + ":" + std::to_string(filed.line) +
              ": expected a record whose case can be measured again",
          "measure it anew with csr-bench --records"};
}

std::vector<FiledRecord> read_records(const std::string& path) {
  ParsedRecords parsed = parse_records(path);
  if (!parsed.cut_line.empty()) {
    log_warning(last_line(path, parsed) + " was cut short; it is left out");
  }
  return std::move(parsed.records);
}

struct RecordFile::State {
  explicit State(const std::string& name)
      : path(name), is_new(access(name.c_str(), F_OK) != 0), file(retried([&] {
          return open(name.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        })) {}
  /// A run that wrote no record leaves no file where none was.
  ~State() {
    struct stat status {};
    if (!is_new || !is_locked || fstat(file.number, &status) != 0 || status.st_size != 0) return;
    std::error_code ignored;  // a link stays, and what it names goes
    std::filesystem::remove(std::filesystem::canonical(path, ignored), ignored);
  }

  const std::string path;
  const bool is_new;
  const OpenFile file;
  bool is_locked = false;
  std::vector<FiledRecord> records;
};

namespace {

/// Whether a standard stream goes into the file, as with --records /dev/stdout >FILE.
bool is_standard_stream(const struct stat& file) {
  const auto goes_there = [&](int stream) {
    struct stat status {};
    return fstat(stream, &status) == 0 && status.st_dev == file.st_dev &&
           status.st_ino == file.st_ino;
  };
  return goes_there(STDOUT_FILENO) || goes_there(STDERR_FILENO);
}

/// Whether `path` still names the open file: who had it before may have removed it as empty.
bool is_named(const std::string& path, const struct stat& of_open_file) {
  struct stat named {};
  return stat(path.c_str(), &named) == 0 && named.st_dev == of_open_file.st_dev &&
         named.st_ino == of_open_file.st_ino;
}

}  // namespace

RecordFile::RecordFile(const std::string& path) {
  if (path == "-") {
    throw IoError(
        "cannot write '-': records go into a file, not to standard output; name one, say ./-, or "
        "leave it out and say --json");
  }
  auto state = std::make_unique<State>(path);
  const int file = state->file.number;
  if (file < 0) fail(path, "open for appending");
  struct stat status {};
  if (fstat(file, &status) != 0) fail(path, "look at");
  if (!S_ISREG(status.st_mode)) {  // reading what is there would wait for ever on a pipe
    throw IoError(path + ": expected a regular file for the records, found a pipe or device; " +
                  "--json prints the records on stdout");
  }
  if (is_standard_stream(status)) {  // reports and records would overwrite each other
    throw IoError(path + ": expected a file of its own for the records, found that of standard " +
                  "output or of messages; name another, or say --json for records on stdout");
  }
  // Released by the system when the process ends, however it ends. A file system without locks
  // (some network ones) goes without.
  const bool is_refused = retried([&] { return flock(file, LOCK_EX | LOCK_NB); }) != 0;
  if ((is_refused && errno == EWOULDBLOCK) || !is_named(path, status)) {
    throw IoError(path +
                  ": another process is writing records there; wait for it, or give each "
                  "its own file");
  }
  state->is_locked = !is_refused;
  sync_folder_of(path);

  ParsedRecords parsed = parse_records(path);
  if (!parsed.cut_line.empty()) {
    const std::string kept = keep_aside(path, parsed.cut_line);
    const auto good_bytes = static_cast<off_t>(parsed.good_bytes);
    if (retried([&] { return ftruncate(file, good_bytes); }) != 0) fail(path, "repair");
    log_warning(last_line(path, parsed) + " was cut short and is no record; its " +
                std::to_string(parsed.cut_line.size()) + " bytes are in " + kept + " now");
  }
  if (parsed.is_newline_missing) {
    if (!write_all(file, "\n")) fail(path, "complete the last line");
    log_warning(last_line(path, parsed) + " ends without its newline, which was added");
  }
  state->records = std::move(parsed.records);
  state_ = state.release();
}

RecordFile::~RecordFile() { delete state_; }

const std::vector<FiledRecord>& RecordFile::records() const { return state_->records; }

void RecordFile::append(const Json& record) {
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const int file = state_->file.number;
  const off_t end = lseek(file, 0, SEEK_END);
  if (end < 0) fail(state_->path, "find the end");
  if (!write_all(file, line)) {
    const IoError refusal = refusal_of(state_->path, end == 0);
    // What was written of it goes; if that fails, too, the next run finds a line that is cut short.
    static_cast<void>(retried([&] { return ftruncate(file, end); }));
    throw refusal;
  }
}

}  // namespace csrkit
