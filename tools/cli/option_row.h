// One option of a command line: how it is written, and what --help says of it.
#pragma once

#include <string>
#include <vector>

namespace csrkit {

/// Without a placeholder it is a flag.
struct OptionRow {
  std::string names;  // "long", or "s,long" with a one-letter short form
  std::string placeholder;
  std::string help;
  std::string default_value = {};
  std::string implied = {};  // by the bare form, if the option may do without its value
  bool is_repeated = false;

  bool is_flag() const { return placeholder.empty(); }
  std::string short_name() const { return has_short() ? names.substr(0, 1) : ""; }
  std::string long_name() const { return has_short() ? names.substr(2) : names; }

 private:
  bool has_short() const { return names.size() > 2 && names[1] == ','; }
};

/// The rows as --help shows them, a line or more for each.
std::string help_of(const std::vector<OptionRow>& rows);

/// "; did you mean --verbose?" for "verbos"; "" where no row is near.
std::string suggestion_for(const std::string& option, const std::vector<OptionRow>& rows);

/// The text, whose first line begins at column `indent`, in lines of at most 100 columns.
std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace csrkit
