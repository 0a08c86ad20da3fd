#include "tools/cli/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cxxopts.hpp>
#include <filesystem>
#include <limits>

#include "core/base/parameters.h"
#include "core/base/suggestion.h"
#include "core/base/text.h"
#include "tools/cli/log.h"
#include "tools/cli/process.h"
#include "tools/cli/provenance.h"
#include "tools/cli/run_tool.h"
#include "tools/cli/version.h"

namespace csrkit {

namespace {

constexpr char kFlagImplied[] = "true";

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return parts;
    begin = comma + 1;
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) append_item(all, word);
  return all;
}

}  // namespace

Options::Options(std::string tool, std::string usage, int min_names, int max_names,
                 std::string summary)
    : tool_(std::move(tool)),
      usage_(std::move(usage)),
      summary_(std::move(summary)),
      min_names_(min_names),
      max_names_(max_names) {}

Options& Options::add(const std::vector<OptionRow>& rows, const std::string& whose) {
  for (const OptionRow& row : rows) {
    rows_.push_back(row);
    rows_.back().help = whose + row.help;
  }
  return *this;
}

Options& Options::example(const std::string& command, const std::string& purpose) {
  examples_.emplace_back(command, purpose);
  return *this;
}

Options& Options::on_list(std::function<std::string(bool)> list) {
  list_ = std::move(list);
  return *this;
}

Options& Options::writes_files() { return flag("force", "replace outputs that exist already"); }

void Options::refuse_unknown(int argc, const char* const* argv) const {
  // The parser's exception quotes the name in its own way; find it again in the command line.
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.size() < 2 || word[0] != '-') continue;
    const bool is_long = word[1] == '-';
    const std::string name = is_long ? word.substr(2, word.find('=', 2) - 2) : word.substr(1, 1);
    const bool is_known = std::any_of(rows_.begin(), rows_.end(), [&](const OptionRow& row) {
      return row.short_name() == name || (is_long && row.long_name() == name);
    });
    if (is_known) continue;
    std::string advice = suggestion_for(name, rows_);
    const auto is_set = [](const OptionRow& row) { return row.long_name() == "set"; };
    if (advice.empty() && is_long && std::any_of(rows_.begin(), rows_.end(), is_set)) {
      advice = "; parameters are given as --set NAME=VALUE, --list shows them";
    }
    std::error_code unknown;
    if (advice.empty() && std::filesystem::exists(word, unknown)) {
      advice = "; the file of this name is ./" + word;
    }
    throw UsageError("there is no option " + std::string(name.size() == 1 ? "-" : "--") + name +
                     advice);
  }
  throw UsageError("the command line holds an option that does not exist");
}

void Options::refuse_detached(int argc, const char* const* argv) const {
  for (const OptionRow& row : rows_) {
    if (row.implied.empty()) continue;
    const std::string name = "--" + row.long_name();
    const std::string choices = "|" + row.placeholder + "|";
    for (int i = 1; i + 1 < argc; ++i) {
      const std::string next = argv[i + 1];
      if (argv[i] != name || choices.find("|" + next + "|") == std::string::npos) continue;
      throw UsageError(name + " " + next + " reads '" + next + "' as a file; say " + name + "=" +
                       next);
    }
  }
}

void Options::parse(int argc, const char* const* argv) {
  if (list_) flag("list", "print what there is to choose from, and exit");
  flag("json", "print the report as JSON on stdout");
  flag("quiet", "no report, no progress, errors only");
  flag("verbose", "say on stderr what this runs on, and why");
  flag("h,help", "print this text, and exit");
  flag("version", "print the version and what it was built with, and exit");

  read(argc, argv);
  for (const OptionRow& row : rows_) require_values(row);
  if (given("quiet") && given("verbose")) {
    throw UsageError("--quiet and --verbose contradict each other; give one");
  }
  set_log_level(given("quiet")     ? LogLevel::quiet
                : given("verbose") ? LogLevel::verbose
                                   : LogLevel::normal);
  print_if_asked();
  refuse_detached(argc, argv);
  require_names();
  is_time_given();  // refuses a time that is none before any work, not when it is written
  say_process(given("threads") ? static_cast<int>(integer("threads", 1, kMaxThreads)) : 0,
              given("memory-limit") ? text("memory-limit") : "");
}

void Options::read(int argc, const char* const* argv) {
  command_line_.assign(argv, argv + argc);
  if (!command_line_.empty()) command_line_[0] = tool_;

  cxxopts::Options parser(tool_);
  for (const OptionRow& row : rows_) {
    auto value = cxxopts::value<std::string>();
    if (row.is_flag()) value->implicit_value(kFlagImplied);
    if (!row.implied.empty()) value->implicit_value(row.implied);
    parser.add_options()(row.names, "", value);
  }
  try {
    const cxxopts::ParseResult result = parser.parse(argc, argv);
    for (const cxxopts::KeyValue& argument : result.arguments()) {
      values_[argument.key()].push_back(argument.value());
    }
    names_ = result.unmatched();
  } catch (const cxxopts::exceptions::no_such_option&) {
    refuse_unknown(argc, argv);
  } catch (const cxxopts::exceptions::missing_argument&) {
    throw UsageError(std::string(argv[argc - 1]) +
                     " needs a value, found the end of the command line");
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(error.what());
  }
}

void Options::require_values(const OptionRow& row) const {
  const std::string name = "--" + row.long_name();
  const std::vector<std::string> values = texts(row.long_name());
  if (values.size() > 1 && !row.is_repeated) {
    throw UsageError(name + " is given " + std::to_string(values.size()) + " times; give it once");
  }
  const std::string needed = name + " needs a value (" + row.placeholder + "), found ";
  for (const std::string& text : values) {
    if (row.is_flag() && text != kFlagImplied) {
      throw UsageError(name + " takes no value, found '" + text + "'");
    }
    if (text.empty()) throw UsageError(needed + "an empty one");
    // `--output --check` swallows the second option as a file name; nobody means that.
    if (text.rfind("--", 0) == 0) throw UsageError(needed + "the option '" + text + "'");
  }
}

void Options::print_if_asked() const {
  if (!given("help") && !given("version") && !given("list")) return;
  const std::string text = given("help")      ? help()
                           : given("version") ? version_text(tool_)
                                              : list_(json());
  std::fputs(text.c_str(), stdout);
  throw Finished{};
}

void Options::require_names() const {
  const int count = static_cast<int>(names_.size());
  if (count < min_names_ || count > max_names_) {
    std::string found = count == 0 ? "none" : "";
    for (const std::string& name : names_) found += (found.empty() ? "'" : " '") + name + "'";
    throw UsageError("expected " + usage_ + ", found " + found);
  }
  for (const std::string& name : names_) {
    if (name.empty()) throw UsageError("expected " + usage_ + ", found an empty name");
  }
}

bool Options::given(const std::string& option) const { return values_.count(option) > 0; }

std::string Options::text(const std::string& option) const {
  const auto found = values_.find(option);
  if (found != values_.end()) return found->second.front();
  for (const OptionRow& row : rows_) {
    if (row.long_name() == option) return row.default_value;
  }
  throw std::logic_error("option --" + option + " was never declared");
}

std::vector<std::string> Options::texts(const std::string& option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

std::vector<std::string> Options::list(const std::string& option) const {
  const std::string all = text(option);
  if (all.empty()) return {};
  std::vector<std::string> parts = split_at_commas(all);
  for (const std::string& part : parts) {
    if (part.empty()) refuse(option, all, "a list separated by single commas");
  }
  return parts;
}

void Options::refuse(const std::string& option, const std::string& value,
                     const std::string& expected) const {
  throw UsageError("--" + option + " is '" + value + "'; it must be " + expected);
}

std::int64_t Options::integer_of(const std::string& option, const std::string& word,
                                 std::int64_t min, std::int64_t max) const {
  std::int64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stop != end || number < min || number > max) {
    const bool bounded = max < std::numeric_limits<std::int64_t>::max();
    refuse(option, word,
           "a whole number from " + std::to_string(min) +
               (bounded ? " to " + std::to_string(max) : " on"));
  }
  return number;
}

std::int64_t Options::integer(const std::string& option, std::int64_t min, std::int64_t max) const {
  return integer_of(option, text(option), min, max);
}

std::vector<std::int64_t> Options::integers(const std::string& option, std::int64_t min,
                                            std::int64_t max) const {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : list(option)) {
    numbers.push_back(integer_of(option, part, min, max));
  }
  return numbers;
}

std::vector<std::int64_t> Options::different_integers(const std::string& option, std::int64_t min,
                                                      std::int64_t max) const {
  std::vector<std::int64_t> numbers = integers(option, min, max);
  refuse_repeats(numbers, "--" + option);
  return numbers;
}

std::uint64_t Options::seed() const {
  const std::string word = text("seed");
  std::uint64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stop != end) {
    refuse("seed", word, "a whole number from 0 to 18446744073709551615");
  }
  return number;
}

double Options::number(const std::string& option) const {
  const std::string word = text(option);
  double number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) {
    refuse(option, word, "a finite number such as 1, -0.5 or 1e-3");
  }
  return number;
}

double Options::number_from(const std::string& option, double least) const {
  const double found = number(option);
  if (found < least) refuse(option, text(option), "a number of " + rounded(least) + " or more");
  return found;
}

std::uint64_t Options::bytes(const std::string& option) const {
  const std::string word = text(option);
  std::uint64_t bytes = 0;
  if (!parse_bytes(word, &bytes)) {
    refuse(option, word, "a size of 1 or more such as 4096, 512M or 8G (powers of 1024)");
  }
  return bytes;
}

std::string Options::choice(const std::string& option,
                            const std::vector<std::string>& choices) const {
  std::string word = text(option);
  if (std::find(choices.begin(), choices.end(), word) == choices.end()) {
    refuse(option, word, "one of " + joined(choices) + did_you_mean(word, choices));
  }
  return word;
}

std::string Options::help() const {
  std::string text = "usage: " + tool_ + " " + usage_ + " [options]\n\n" + wrapped(summary_, 0) +
                     "\n\noptions:\n" + help_of(rows_);
  if (!examples_.empty()) text += "\nexamples:\n";
  for (const auto& [command, purpose] : examples_) {
    text += "  # " + purpose + "\n  " + command + "\n";
  }
  text +=
      "\nexit codes: 0 done, 1 a check failed, 2 wrong usage, 3 bad input data, 4 I/O failure,\n"
      "5 not enough memory, 6 no usable GPU, 7 device failure, 128 + n ended by signal n\n";
  return text;
}

}  // namespace csrkit
