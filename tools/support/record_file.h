// Measurements as JSON lines, one per case, on disk before the next case begins.
#pragma once

#include <string>
#include <vector>

#include "tools/support/json.h"

namespace csrkit {

/// The records of a file that is only read. A last line that was cut short is left out.
/// Throws IoError, and InputError for a line that is no JSON object.
std::vector<Json> read_records(const std::string& path);

/// A file of records that only grows. A last line that a crash cut short is removed on opening.
class RecordFile {
 public:
  /// Creates the file or reads what is there. Throws InputError for a line that is no JSON object,
  /// IoError if another process has the file open for its records: two that append at once would
  /// each repair what the other is writing, and measure what the other measures.
  explicit RecordFile(const std::string& path);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  const std::vector<Json>& records() const;
  bool was_repaired() const;

  /// One write, then fsync: a crash loses this record or none.
  void append(const Json& record);

 private:
  struct State;
  State* state_;
};

}  // namespace csrkit
