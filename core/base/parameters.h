// Parameters of generators, orderings and file formats. A table declares each of them once: name,
// kind, range, default, help. Values come as text and are checked against the table before any
// work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/base/types.h"

namespace csrkit {

enum class ParameterKind : std::uint8_t { flag, integer, integers, number, bytes, choice, text };

/// One declared parameter. Make it with the functions of `parameter` below.
struct Parameter {
  std::string name;  // as users type it
  ParameterKind kind;
  /// "" = must be given. A word that is no value of the kind (auto, none) leaves the parameter
  /// unset.
  std::string default_value;
  std::string summary;             // one line of help
  double least = 0, most = 0;      // integer, integers, number
  std::vector<std::string> words;  // flag, choice
  std::string implied;             // what --name without a value means; "" = a value is needed

  /// Whether `value` is one of the kind and in range.
  bool accepts(const std::string& value) const;
  /// What is accepted, for messages: "a whole number from 1 to 8", "rows, cols or both".
  std::string expected() const;
};

namespace parameter {

Parameter flag(const char* name, const char* default_value, const char* summary);  // yes or no
Parameter integer(const char* name, const char* default_value, std::int64_t least,
                  std::int64_t most, const char* summary);
/// Whole numbers, separated by commas.
Parameter integers(const char* name, const char* default_value, std::int64_t least,
                   std::int64_t most, const char* summary);
Parameter number(const char* name, const char* default_value, double least, double most,
                 const char* summary);
/// A size such as 4096, 512M or 8G.
Parameter bytes(const char* name, const char* default_value, const char* summary);
Parameter choice(const char* name, const char* default_value, std::vector<std::string> words,
                 const char* summary, const char* implied = "");
Parameter text(const char* name, const char* default_value, const char* summary);

}  // namespace parameter

/// What a caller gives: parameters as text, by name.
using ParameterValues = std::map<std::string, std::string>;

/// The parameter of that name, or null.
const Parameter* find_parameter(const std::vector<Parameter>& table, const std::string& name);

/// The values of one owner's parameters, with defaults filled in.
class Parameters {
 public:
  /// `owner` names a generator, an ordering or a format in messages. Throws UsageError if a value
  /// is given for a name that the table lacks, if a value is not accepted, and if one is missing.
  Parameters(std::string owner, const std::vector<Parameter>& table, const ParameterValues& given);

  /// Whether the caller gave it.
  bool is_given(const std::string& name) const { return value(name).is_given; }
  /// Whether it has a value of its kind: false where a default such as auto still stands.
  bool is_set(const std::string& name) const;

  // Each throws std::logic_error if the table declares the parameter with another kind.
  const std::string& text(const std::string& name) const { return value(name).text; }
  std::int64_t integer(const std::string& name) const;
  Index index(const std::string& name) const { return static_cast<Index>(integer(name)); }
  std::vector<Index> indices(const std::string& name) const;
  double number(const std::string& name) const;
  std::uint64_t bytes(const std::string& name) const;
  bool flag(const std::string& name) const { return choice(name) == 1; }
  /// The position of the value among the words of the table.
  int choice(const std::string& name) const;

  /// For conditions on several parameters. Both throw UsageError.
  [[noreturn]] void refuse(const std::string& name, const std::string& expected) const;
  [[noreturn]] void refuse_all(const std::string& reason) const;

 private:
  struct Value {
    Parameter parameter;
    std::string text;
    bool is_given;
  };
  const Value& value(const std::string& name) const;

  std::string owner_;
  std::map<std::string, Value> values_;
};

/// The names of the rows of a table that take the parameter, with commas. A row of a table of
/// generators, orderings or formats has a `name` and `parameters`.
template <class Row>
std::string owners_of(const std::vector<Row>& rows, const std::string& parameter) {
  std::string names;
  for (const Row& row : rows) {
    if (find_parameter(row.parameters, parameter) == nullptr) continue;
    append_item(names, row.name);
  }
  return names;
}

/// Throws UsageError: `owners` take it, `owner` does not.
[[noreturn]] void refuse_parameter(const std::string& parameter, const std::string& owners,
                                   const std::string& owner);

/// The parameters of one row of `rows`. If another row takes what is given, the message says which.
template <class Row>
Parameters parameters_of(const std::vector<Row>& rows, const Row& row,
                         const ParameterValues& given) {
  for (const auto& [name, value] : given) {
    if (find_parameter(row.parameters, name) != nullptr) continue;
    const std::string owners = owners_of(rows, name);
    if (!owners.empty()) refuse_parameter(name, owners, row.name);
  }
  return Parameters(row.name, row.parameters, given);
}

/// A parameter, and who takes it.
struct OwnedParameter {
  Parameter parameter;
  std::string owners;  // as of owners_of
};

/// Every parameter of a table, once by name. Rows that share a name declare it alike.
template <class Row>
std::vector<OwnedParameter> all_parameters(const std::vector<Row>& rows) {
  std::vector<OwnedParameter> all;
  for (const Row& row : rows) {
    for (const Parameter& parameter : row.parameters) {
      const bool is_known = std::any_of(all.begin(), all.end(), [&](const OwnedParameter& other) {
        return other.parameter.name == parameter.name;
      });
      if (!is_known) all.push_back({parameter, owners_of(rows, parameter.name)});
    }
  }
  return all;
}

/// Those of `given` that the table has.
ParameterValues own_values(const std::vector<Parameter>& table, const ParameterValues& given);

/// Reads a size: a whole number of 1 or more, perhaps followed by B, K, M, G, T or KiB, MiB, ...
/// (powers of 1024). False if it is anything else.
bool parse_bytes(const std::string& text, std::uint64_t* bytes);

/// "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

}  // namespace csrkit
