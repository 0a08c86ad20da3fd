// Measurements as JSON lines, one per case, on disk before the next case begins.
#pragma once

#include <string>
#include <vector>

#include "tools/support/json.h"

namespace csrkit {

/// A file of records that only grows. A last line that a crash cut short is removed on opening.
class RecordFile {
 public:
  /// Creates the file or reads what is there. Throws InputError for a line that is no JSON object.
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
