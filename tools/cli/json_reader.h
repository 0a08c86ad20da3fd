// The one reader of JSON. Whatever a file holds becomes a value that is safe to use, or an
// InputError that names the file, the place and the field.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tools/cli/json.h"

namespace csrkit {

/// What documents may be at most. Ours have fewer than 10 levels; copying or printing a very deep
/// one would exhaust the stack.
inline constexpr int kMaxJsonDepth = 64;
inline constexpr std::uint64_t kMaxJsonBytes = std::uint64_t{16} << 20;

/// The value of a JSON text. Refuses with InputError: more than kMaxJsonBytes, more than
/// kMaxJsonDepth nested arrays and objects, two members of one name in an object, a number beyond
/// the range of its type, and text that is no JSON. `where` begins the message, `advice` ends it.
Json parse_json(std::string_view text, const std::string& where, const std::string& advice);

/// The same for text that need not be JSON: nothing where parse_json would throw.
std::optional<Json> try_parse_json(std::string_view text);

/// A value with its place in a document. Every access checks, and throws an InputError such as
/// "runs.jsonl:3: case.dense_cols: expected a number from 1 to 2147483647, found \"x\"; <advice>".
/// Borrows the document.
class JsonField {
 public:
  /// The document itself. `where` is its file, with line if it has lines.
  JsonField(const Json& document, std::string where, std::string advice);

  const Json& value() const { return *value_; }

  bool has(const std::string& name) const;
  /// A member of this object, which must be there.
  JsonField operator[](const std::string& name) const;
  /// The same for a member that may be missing or null.
  std::optional<JsonField> find(const std::string& name) const;
  /// The elements of this array, or members of this object.
  void for_each(const std::function<void(const JsonField&)>& use) const;
  std::size_t size() const { return value_->size(); }

  const std::string& text() const;
  bool boolean() const;
  /// Any finite number.
  double number() const;
  double number_from(double least) const;
  /// A whole number.
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  std::uint64_t unsigned_integer() const;
  const JsonField& object() const;
  const JsonField& array() const;

  [[noreturn]] void refuse(const std::string& expected) const;

 private:
  JsonField(const JsonField& parent, const Json& value, const std::string& step);

  const Json* value_;
  std::string where_, name_, advice_;
};

/// How a message shows a value: JSON, shortened.
std::string shown_json(const Json& value);

}  // namespace csrkit
