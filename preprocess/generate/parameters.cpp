#include "preprocess/generate/parameters.h"

#include <cmath>
#include <cstdlib>

#include "core/error.h"

namespace csrkit {

namespace {

/// Integers may be written 1000000, 1e6 or 2.5e6. False unless the whole text is one such number.
bool parse_integer(const std::string& text, std::int64_t* value) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0]))) return false;
  char* end = nullptr;
  errno = 0;
  const long long whole = std::strtoll(text.c_str(), &end, 10);
  if (*end == '\0' && errno == 0) {
    *value = whole;
    return true;
  }
  const double number = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !(std::fabs(number) < 9e15) || number != std::floor(number)) return false;
  *value = static_cast<std::int64_t>(number);
  return true;
}

std::string trimmed_number(double value) {
  std::string text = std::to_string(value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

Parameters::Parameters(const std::string& pattern, const std::vector<GenerateParameter>& known,
                       const std::map<std::string, std::string>& given)
    : pattern_(pattern) {
  std::string names;
  for (const GenerateParameter& parameter : known) {
    names += names.empty() ? parameter.name : std::string(", ") + parameter.name;
    values_[parameter.name] = parameter.default_value;
  }
  for (const auto& [name, value] : given) {
    if (values_.count(name) == 0) {
      throw UsageError("pattern '" + pattern + "' has no parameter '" + name +
                       "'; it has: " + names);
    }
    values_[name] = value;
  }
  for (const GenerateParameter& parameter : known) {
    if (values_[parameter.name].empty()) {
      throw UsageError("pattern '" + pattern + "' needs the parameter '" + parameter.name +
                       "': " + parameter.summary);
    }
  }
}

void Parameters::refuse(const std::string& name, const std::string& expected) const {
  throw UsageError("pattern '" + pattern_ + "': " + name + "=" + text(name) + ", expected " +
                   expected);
}

void Parameters::refuse_all(const std::string& reason) const {
  throw UsageError("pattern '" + pattern_ + "': " + reason);
}

const std::string& Parameters::text(const std::string& name) const { return values_.at(name); }

std::int64_t Parameters::integer(const std::string& name, std::int64_t least,
                                 std::int64_t most) const {
  std::int64_t value = 0;
  if (!parse_integer(text(name), &value) || value < least || value > most) {
    refuse(name, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

double Parameters::real(const std::string& name, double least, double most) const {
  const std::string& given = text(name);
  char* end = nullptr;
  const double value = std::strtod(given.c_str(), &end);
  // The negated comparison also refuses NaN.
  if (end == given.c_str() || *end != '\0' || !(value >= least && value <= most)) {
    refuse(name, "a number from " + trimmed_number(least) + " to " + trimmed_number(most));
  }
  return value;
}

bool Parameters::flag(const std::string& name) const { return choice(name, {"no", "yes"}) == 1; }

int Parameters::choice(const std::string& name, const std::vector<std::string>& words) const {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (text(name) == words[i]) return static_cast<int>(i);
    list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  refuse(name, list);
}

std::vector<Index> Parameters::index_list(const std::string& name, Index least, Index most) const {
  std::vector<Index> list;
  const std::string& all = text(name);
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t comma = std::min(all.find(',', at), all.size());
    std::int64_t value = 0;
    if (!parse_integer(all.substr(at, comma - at), &value) || value < least || value > most) {
      refuse(name, "whole numbers from " + std::to_string(least) + " to " + std::to_string(most) +
                       ", separated by commas");
    }
    list.push_back(static_cast<Index>(value));
    at = comma + 1;
  }
  return list;
}

}  // namespace csrkit
