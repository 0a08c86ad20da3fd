#include "core/base/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/suggestion.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

// All numbers by <charconv>: the functions of C read and write the decimal comma of a German
// locale, and libraries run in programs that have one.
bool parse_number(const std::string& text, double* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end;
}

/// Integers may be written 1000000, 1e6 or 2.5e6. False unless the whole text is one such number.
bool parse_integer(const std::string& text, std::int64_t* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  if (error == std::errc() && stop == end) return true;
  double number = 0;
  if (!parse_number(text, &number) || !(std::fabs(number) < 9e15) || number != std::floor(number)) {
    return false;
  }
  *value = static_cast<std::int64_t>(number);
  return true;
}

/// Calls `take` with every part between commas, and stops where it says false.
template <class Take>
bool all_parts(const std::string& text, Take&& take) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (!take(text.substr(at, comma - at))) return false;
    at = comma + 1;
  }
  return true;
}

/// 1000000000 rather than 1e+09, but 1e-09 rather than 0.000000001.
std::string in_full(double value) {
  char digits[32];
  const double size = std::fabs(value);
  const bool is_short = value == 0 || (size >= 1e-6 && size < 1e18);
  const auto format = is_short ? std::chars_format::fixed : std::chars_format::scientific;
  return {digits, std::to_chars(digits, digits + sizeof digits, value, format).ptr};
}

}  // namespace

namespace parameter {

Parameter flag(const char* name, const char* default_value, const char* summary) {
  return {name, ParameterKind::flag, default_value, summary, 0, 0, {"no", "yes"}, "yes"};
}
Parameter integer(const char* name, const char* default_value, std::int64_t least,
                  std::int64_t most, const char* summary) {
  return {name,
          ParameterKind::integer,
          default_value,
          summary,
          static_cast<double>(least),
          static_cast<double>(most),
          {},
          ""};
}
Parameter integers(const char* name, const char* default_value, std::int64_t least,
                   std::int64_t most, const char* summary) {
  Parameter list = integer(name, default_value, least, most, summary);
  list.kind = ParameterKind::integers;
  return list;
}
Parameter number(const char* name, const char* default_value, double least, double most,
                 const char* summary) {
  return {name, ParameterKind::number, default_value, summary, least, most, {}, ""};
}
Parameter bytes(const char* name, const char* default_value, const char* summary) {
  return {name, ParameterKind::bytes, default_value, summary, 0, 0, {}, ""};
}
Parameter choice(const char* name, const char* default_value, std::vector<std::string> words,
                 const char* summary, const char* implied) {
  return {name, ParameterKind::choice, default_value, summary, 0, 0, std::move(words), implied};
}
Parameter text(const char* name, const char* default_value, const char* summary) {
  return {name, ParameterKind::text, default_value, summary, 0, 0, {}, ""};
}

}  // namespace parameter

bool Parameter::accepts(const std::string& value) const {
  const auto is_integer = [&](const std::string& part) {
    std::int64_t whole = 0;
    return parse_integer(part, &whole) && static_cast<double>(whole) >= least &&
           static_cast<double>(whole) <= most;
  };
  double real = 0;
  std::uint64_t size = 0;
  switch (kind) {
    case ParameterKind::flag:
    case ParameterKind::choice: return std::count(words.begin(), words.end(), value) > 0;
    case ParameterKind::integer: return is_integer(value);
    case ParameterKind::integers: return all_parts(value, is_integer);
    // Comparisons that a NaN fails.
    case ParameterKind::number: return parse_number(value, &real) && real >= least && real <= most;
    case ParameterKind::bytes: return parse_bytes(value, &size);
    case ParameterKind::text: return !value.empty();
  }
  return false;
}

std::string Parameter::expected() const {
  const auto range = [&] { return " from " + in_full(least) + " to " + in_full(most); };
  std::string text;
  switch (kind) {
    case ParameterKind::flag:
    case ParameterKind::choice: text = alternatives(words); break;
    case ParameterKind::integer: text = "a whole number" + range(); break;
    case ParameterKind::integers: text = "whole numbers" + range() + ", separated by commas"; break;
    case ParameterKind::number: text = "a number" + range(); break;
    case ParameterKind::bytes: text = "a size such as 4096, 512M or 8G"; break;
    case ParameterKind::text: text = "text"; break;
  }
  return default_value.empty() || accepts(default_value) ? text : text + ", or " + default_value;
}

const Parameter* find_parameter(const std::vector<Parameter>& table, const std::string& name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Parameter& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

Parameters::Parameters(std::string owner, const std::vector<Parameter>& table,
                       const ParameterValues& given)
    : owner_(std::move(owner)) {
  std::string names;
  for (const Parameter& row : table) {
    append_item(names, row.name);
    values_.emplace(row.name, Value{row, row.default_value, false});
  }
  for (const auto& [name, text] : given) {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      throw UsageError(owner_ + " has no parameter '" + name + "'; it has " +
                       (names.empty() ? "none" : names) + did_you_mean(name, names));
    }
    const Parameter& row = found->second.parameter;
    found->second.text = text;
    found->second.is_given = true;
    if (text != row.default_value && !row.accepts(text)) refuse(name, row.expected());
  }
  for (const Parameter& row : table) {
    if (this->text(row.name).empty()) {
      throw UsageError(owner_ + " needs the parameter " + row.name + ": " + row.summary);
    }
  }
}

const Parameters::Value& Parameters::value(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::logic_error(owner_ + " never declared " + name);
  return found->second;
}

bool Parameters::is_set(const std::string& name) const {
  return value(name).parameter.accepts(text(name));
}

std::int64_t Parameters::integer(const std::string& name) const {
  std::int64_t whole = 0;
  if (!parse_integer(text(name), &whole)) throw std::logic_error(name + " is no whole number");
  return whole;
}

std::vector<Index> Parameters::indices(const std::string& name) const {
  std::vector<Index> list;
  all_parts(text(name), [&](const std::string& part) {
    std::int64_t whole = 0;
    if (!parse_integer(part, &whole)) throw std::logic_error(name + " is no list of numbers");
    list.push_back(static_cast<Index>(whole));
    return true;
  });
  return list;
}

double Parameters::number(const std::string& name) const {
  double real = 0;
  if (!parse_number(text(name), &real)) throw std::logic_error(name + " is no number");
  return real;
}

std::uint64_t Parameters::bytes(const std::string& name) const {
  std::uint64_t size = 0;
  if (!parse_bytes(text(name), &size)) throw std::logic_error(name + " is no size");
  return size;
}

int Parameters::choice(const std::string& name) const {
  const std::vector<std::string>& words = value(name).parameter.words;
  const auto found = std::find(words.begin(), words.end(), text(name));
  if (found == words.end()) throw std::logic_error(name + " is none of its words");
  return static_cast<int>(found - words.begin());
}

void Parameters::refuse(const std::string& name, const std::string& expected) const {
  throw UsageError(owner_ + ": " + name + " is '" + text(name) + "'; it must be " + expected +
                   did_you_mean(text(name), value(name).parameter.words));
}

void Parameters::refuse_all(const std::string& reason) const {
  throw UsageError(owner_ + ": " + reason);
}

void refuse_parameter(const std::string& parameter, const std::string& owners,
                      const std::string& owner) {
  throw UsageError("'" + parameter + "' is a parameter of " + owners + ", not of " + owner);
}

ParameterValues own_values(const std::vector<Parameter>& table, const ParameterValues& given) {
  ParameterValues own;
  for (const auto& value : given) {
    if (find_parameter(table, value.first) != nullptr) own.insert(value);
  }
  return own;
}

bool parse_bytes(const std::string& text, std::uint64_t* bytes) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string unit(stop, end);
  int shift = -1;
  if (unit.empty() || unit == "B") shift = 0;
  if (unit == "K" || unit == "KiB") shift = 10;
  if (unit == "M" || unit == "MiB") shift = 20;
  if (unit == "G" || unit == "GiB") shift = 30;
  if (unit == "T" || unit == "TiB") shift = 40;
  if (error != std::errc() || shift < 0 || number == 0 ||
      number > (std::numeric_limits<std::uint64_t>::max() >> shift)) {
    return false;
  }
  *bytes = number << shift;
  return true;
}

std::string alternatives(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return list;
}

}  // namespace csrkit
