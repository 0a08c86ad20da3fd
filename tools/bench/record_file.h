// Measurements as JSON lines, one per case, on disk before the next case begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/json_reader.h"

namespace csrkit {

// A file of records holds one JSON object per line, each with the fields of a record; blank lines
// count for nothing, and an empty file is one, too. Its last line may be cut short: it lacks its
// newline then, and begins as every record does, with {"schema":. Any other file is refused and
// stays as it is.

struct FiledRecord {
  Json record;             // as it would be written today
  std::uint64_t line = 0;  // of its file, from 1
};

/// The records of a file that is only read. A last line that was cut short is left out with a
/// warning. Throws IoError, and InputError for what is no file of records.
std::vector<FiledRecord> read_records(const std::string& path);

/// A record of the file `path`, as a value whose every access is checked.
JsonField field_of(const FiledRecord& filed, const std::string& path);

/// A file of records that only grows.
class RecordFile {
 public:
  /// Creates the file or reads what is there. Moves a last line that was cut short into a new file
  /// beside it, `<path>.cut` or `<path>.cut.<number>`, and completes a last record that lacks only
  /// its newline; says so in a warning. Throws InputError, with the file untouched, for what is no
  /// file of records, and IoError if another process has the file open for its records: two that
  /// append at once would each repair what the other is writing, and measure what the other
  /// measures.
  explicit RecordFile(const std::string& path);
  /// Removes the file if it is empty and was not there before.
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Those that it held when it was opened.
  const std::vector<FiledRecord>& records() const;

  /// Writes the record, then fsync: a crash loses this record or none.
  void append(const Json& record);

 private:
  struct State;
  State* state_;
};

}  // namespace csrkit
