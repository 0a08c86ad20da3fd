#include "tools/support/record_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace csrkit {

struct RecordFile::State {
  std::string path;
  int descriptor = -1;
  bool was_repaired = false;
  std::vector<Json> records;

  ~State() {
    if (descriptor >= 0) close(descriptor);
  }

  [[noreturn]] void fail(const char* what) const {
    throw IoError(path + ": cannot " + what + ": " + std::strerror(errno));
  }

  void sync_folder() const {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const int folder_descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_descriptor < 0) return;  // the record itself is safe; some file systems refuse this
    fsync(folder_descriptor);
    close(folder_descriptor);
  }
};

namespace {

struct ParsedRecords {
  std::vector<Json> records;
  std::size_t good_bytes = 0;
  bool is_cut_short = false;
};

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw IoError(path + ": cannot open: " + std::strerror(errno));
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) throw IoError(path + ": cannot read: " + std::strerror(errno));
  return text;
}

ParsedRecords parse_records(const std::string& path, const std::string& text) {
  ParsedRecords parsed;
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      parsed.is_cut_short = true;
      break;
    }
    Json record = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                              text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!record.is_object()) {
      throw InputError(path + ":" + std::to_string(line) +
                       ": expected a record (a JSON object), found something else; name a file "
                       "that csr-bench --records wrote");
    }
    parsed.records.push_back(std::move(record));
    begin = end + 1;
  }
  parsed.good_bytes = begin;
  return parsed;
}

}  // namespace

std::vector<Json> read_records(const std::string& path) {
  return parse_records(path, text_of(path)).records;
}

RecordFile::RecordFile(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->descriptor = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (state->descriptor < 0) state->fail("open for appending");
  struct stat status {};
  if (fstat(state->descriptor, &status) != 0) state->fail("look at");
  if (!S_ISREG(status.st_mode)) {  // reading what is there would wait for ever on a pipe
    throw IoError(path + ": expected a regular file for the records, found a pipe or device; " +
                  "--json prints the records on stdout");
  }
  // Released by the system when the process ends, however it ends. A file system without locks
  // (some network ones) goes without.
  if (flock(state->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw IoError(path +
                  ": another process is writing records there; wait for it, or give each "
                  "its own file");
  }
  state->sync_folder();

  const ParsedRecords parsed = parse_records(path, text_of(path));
  if (parsed.is_cut_short) {
    if (ftruncate(state->descriptor, static_cast<off_t>(parsed.good_bytes)) != 0)
      state->fail("repair");
    state->was_repaired = true;
  }
  state->records = parsed.records;
  state_ = state.release();
}

RecordFile::~RecordFile() { delete state_; }

const std::vector<Json>& RecordFile::records() const { return state_->records; }

bool RecordFile::was_repaired() const { return state_->was_repaired; }

void RecordFile::append(const Json& record) {
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const ssize_t written = write(state_->descriptor, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    if (written >= 0) errno = ENOSPC;
    state_->fail("append a record");
  }
  if (fsync(state_->descriptor) != 0 && errno != EINVAL && errno != EROFS) state_->fail("sync");
  state_->records.push_back(record);
}

}  // namespace csrkit
