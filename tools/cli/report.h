// Results on stdout: aligned lines and tables for people, one JSON object for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/json.h"

namespace csrkit {

std::string with_commas(std::int64_t number);                     // 1,166,243
std::string with_commas(std::int64_t number, const char* thing);  // 1 row, 1,166,243 rows
std::string fixed(double number, int digits);                     // 3.14
std::string readable_seconds(double seconds);                     // 1.23 ms
std::string milliseconds(double seconds);  // 1.234, and 0.01234 below a tenth: for columns
std::string readable_bytes(double bytes);  // 4.0 MiB
std::string yes_or_no(bool value);

/// For JSON, a count that is kept as a double: 176 and not 176.0 where it is whole.
Json count_json(double count);

/// Column headers and rows of text; numbers align right, everything else left.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headers);
  void add(std::vector<std::string> cells);
  bool is_empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

/// Collects what a tool has to say and prints it once, at the end.
class Report {
 public:
  Report();
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// `key` names the value in the JSON object, `label` in the text; `text` is the value for people,
  /// "" to leave the line out for them.
  void add(const std::string& key, const std::string& label, const Json& value,
           const std::string& text);
  void add(const std::string& key, const std::string& label, const std::string& text);
  /// Otherwise a literal would become a bool.
  void add(const std::string& key, const std::string& label, const char* text) {
    add(key, label, std::string(text));
  }
  void add(const std::string& key, const std::string& label, std::int64_t count);
  void add(const std::string& key, const std::string& label, bool value);
  void add_seconds(const std::string& key, const std::string& label, double seconds);
  /// Into the JSON object only.
  void add_json(const std::string& key, const Json& value);
  /// For people only.
  void add_line(const std::string& label, const std::string& text);
  void add_text(const std::string& text);

  std::string text() const;
  std::string json() const;

 private:
  struct State;
  State* state_;
};

/// Writes to stdout what is no report, such as a table of many; the progress line is gone before.
void print_text(const std::string& text);

/// The report as the options want it: JSON, text, or nothing (--quiet without --json).
void print(const Report& report, bool as_json);

}  // namespace csrkit
