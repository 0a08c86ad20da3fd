// Command lines, the same in every tool: what is not understood is refused with a sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/team.h"
#include "core/base/types.h"
#include "tools/cli/option_row.h"

namespace csrkit {

/// Declares the options of one tool, parses a command line once and hands out checked values.
/// Refused (UsageError): unknown options (with a suggestion), options given twice, missing or empty
/// arguments, too many or too few names. --help, --version, --list, --json, --quiet and --verbose
/// are in every tool; what --verbose says of threads, cores, instructions and memory, too.
class Options {
 public:
  /// `usage` names the positional arguments: "INPUT OUTPUT.csr".
  Options(std::string tool, std::string usage, int min_names, int max_names, std::string summary);

  /// `whose` begins the help of each.
  Options& add(const std::vector<OptionRow>& rows, const std::string& whose = "");
  /// `names` is "long" or "s,long" with a one-letter short form.
  Options& flag(const std::string& names, const std::string& help) {
    return add({{names, "", help}});
  }
  Options& value(const std::string& names, const std::string& placeholder, const std::string& help,
                 const std::string& default_value = "") {
    return add({{names, placeholder, help, default_value}});
  }
  /// --name or --name=VALUE; `implied` stands in for the bare form.
  Options& optional_value(const std::string& names, const std::string& placeholder,
                          const std::string& help, const std::string& implied) {
    return add({{names, placeholder, help, "", implied}});
  }
  /// May be given any number of times.
  Options& repeated(const std::string& names, const std::string& placeholder,
                    const std::string& help) {
    return add({{names, placeholder, help, "", "", true}});
  }
  Options& example(const std::string& command, const std::string& purpose);
  /// Declares --force, for a tool whose outputs go through require_outputs (tools/cli/outputs.h).
  Options& writes_files();
  /// What --list prints; told whether as JSON.
  Options& on_list(std::function<std::string(bool as_json)> list);

  /// Prints and throws Finished for --help, --version and --list.
  void parse(int argc, const char* const* argv);

  /// The files and other names, in order.
  const std::vector<std::string>& names() const { return names_; }
  bool given(const std::string& option) const;
  bool flag(const char* option) const { return given(option); }

  std::string text(const std::string& option) const;
  std::vector<std::string> texts(const std::string& option) const;  // every occurrence
  std::vector<std::string> list(const std::string& option) const;   // split at commas
  std::int64_t integer(const std::string& option, std::int64_t min, std::int64_t max) const;
  std::vector<std::int64_t> integers(const std::string& option, std::int64_t min,
                                     std::int64_t max) const;
  /// The same of a list in which nothing may be there twice.
  std::vector<std::int64_t> different_integers(const std::string& option, std::int64_t min,
                                               std::int64_t max) const;
  std::uint64_t seed() const;                            // of --seed: any 64-bit number
  double number(const std::string& option) const;        // finite
  std::uint64_t bytes(const std::string& option) const;  // 4096, 512K, 512M, 8G
  std::string choice(const std::string& option, const std::vector<std::string>& choices) const;
  /// A number that is not below `least`.
  double number_from(const std::string& option, double least) const;
  /// Parses with a library's parser, and names the option if it refuses.
  template <class Parse>
  auto parsed(const std::string& option, Parse&& parse) const {
    try {
      return parse(text(option));
    } catch (const UsageError& error) {
      throw UsageError("--" + option + ": " + error.what());
    }
  }

  bool json() const { return given("json"); }
  /// The command line as typed, for provenance and records.
  const std::vector<std::string>& command_line() const { return command_line_; }
  std::string help() const;

 private:
  // The steps of parse.
  void read(int argc, const char* const* argv);
  void require_values(const OptionRow& row) const;
  void print_if_asked() const;
  void require_names() const;

  [[noreturn]] void refuse(const std::string& option, const std::string& value,
                           const std::string& expected) const;
  [[noreturn]] void refuse_unknown(int argc, const char* const* argv) const;
  /// Of an option whose value may be missing, `--check full` is the option alone and a name.
  void refuse_detached(int argc, const char* const* argv) const;
  std::int64_t integer_of(const std::string& option, const std::string& text, std::int64_t min,
                          std::int64_t max) const;

  std::string tool_, usage_, summary_;
  int min_names_, max_names_;
  std::vector<OptionRow> rows_;
  std::vector<std::pair<std::string, std::string>> examples_;
  std::function<std::string(bool)> list_;
  std::vector<std::string> names_, command_line_;
  std::map<std::string, std::vector<std::string>> values_;
};

/// Throws UsageError if something is twice among `items`, which `list` gives: "--kernels".
template <class T>
void refuse_repeats(const std::vector<T>& items, const std::string& list) {
  std::set<T> seen;
  for (const T& item : items) {
    if (seen.insert(item).second) continue;
    std::ostringstream message;
    message << list << " names " << item << " twice; once is enough";
    throw UsageError(message.str());
  }
}

}  // namespace csrkit
