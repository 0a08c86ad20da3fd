#include "tools/cli/json_reader.h"

#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

/// Makes the value from the parser's events. The parser keeps its own list of what is open, and so
/// does this: nothing recurses, however deep the text is.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Json root;
  std::string problem;         // "" = none
  std::size_t problem_at = 0;  // byte

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    if (!std::isfinite(value)) return stop("a number within the range of float64", text);
    return put(value);
  }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return stop("JSON", "binary data"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!open_.back().names.insert(name).second) {
      return stop("every name once in an object", "a second " + shown_json(Json(name)));
    }
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t at, const std::string&,
                   const nlohmann::detail::exception& error) override {
    problem_at = at;
    constexpr int kOutOfRange = 406;
    return error.id == kOutOfRange ? stop("numbers within the range of float64", "a larger one")
                                   : stop("JSON", "something else");
  }

 private:
  struct Open {
    Json* value;  // stays where it is: only the innermost one grows
    std::unordered_set<std::string> names;
  };

  bool stop(const std::string& expected, const std::string& found) {
    problem = "expected " + expected + ", found " + found;
    return false;
  }

  Json& place(Json value) {
    if (open_.empty()) return root = std::move(value);
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    // key() made sure that the name is new, so that no search among the members is needed.
    using Members = std::vector<Json::object_t::value_type>;
    Members& members = parent.get_ref<Json::object_t&>();
    members.emplace_back(std::move(name_), std::move(value));
    return members.back().second;
  }

  bool put(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (open_.size() == static_cast<std::size_t>(kMaxJsonDepth)) {
      return stop("at most " + std::to_string(kMaxJsonDepth) + " nested arrays and objects",
                  "more");
    }
    open_.push_back({&place(std::move(value)), {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Open> open_;
  std::string name_;
};

/// The problem of the text, "" if it has none.
std::string parse(std::string_view text, Json& value, std::size_t& problem_at) {
  if (text.size() > kMaxJsonBytes) {
    problem_at = kMaxJsonBytes;
    return "expected at most " + std::to_string(kMaxJsonBytes) + " bytes of JSON, found " +
           std::to_string(text.size());
  }
  if (starts_with(text, "\x1f\x8b"))
    return "expected JSON, found a gzip file (gzip -dk unpacks it)";
  Builder builder;
  Json::sax_parse(text.begin(), text.end(), &builder);
  value = std::move(builder.root);
  problem_at = builder.problem_at;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return "expected JSON, found nothing";
  }
  return builder.problem;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, const std::string& advice) {
  Json value;
  std::size_t at = 0;
  const std::string problem = parse(text, value, at);
  if (problem.empty()) return value;
  throw InputError(where + ": byte " + std::to_string(at) + ": " + problem + "; " + advice);
}

std::optional<Json> try_parse_json(std::string_view text) {
  Json value;
  std::size_t at = 0;
  if (!parse(text, value, at).empty()) return std::nullopt;
  return value;
}

std::string shown_json(const Json& value) {
  constexpr std::size_t kShown = 40;
  std::string text = value.is_object()  ? "an object"
                     : value.is_array() ? "an array"
                                        : value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

JsonField::JsonField(const Json& document, std::string where, std::string advice)
    : value_(&document), where_(std::move(where)), advice_(std::move(advice)) {}

JsonField::JsonField(const JsonField& parent, const Json& value, const std::string& step)
    : value_(&value), where_(parent.where_), name_(parent.name_ + step), advice_(parent.advice_) {
  if (name_.front() == '.') name_.erase(0, 1);
}

bool JsonField::has(const std::string& name) const { return object().value_->contains(name); }

JsonField JsonField::operator[](const std::string& name) const {
  const auto found = object().value_->find(name);
  if (found == value_->end()) refuse("a member \"" + name + "\"");
  return {*this, *found, "." + name};
}

std::optional<JsonField> JsonField::find(const std::string& name) const {
  const auto found = object().value_->find(name);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonField(*this, *found, "." + name);
}

void JsonField::for_each(const std::function<void(const JsonField&)>& use) const {
  if (!value_->is_array() && !value_->is_object()) refuse("an array");
  std::size_t position = 0;
  for (const auto& [name, element] : value_->items()) {
    use({*this, element,
         value_->is_object() ? "." + name : "[" + std::to_string(position++) + "]"});
  }
}

const std::string& JsonField::text() const {
  if (!value_->is_string()) refuse("text");
  return value_->get_ref<const std::string&>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

double JsonField::number() const {
  if (!value_->is_number()) refuse("a number");
  return value_->get<double>();
}

double JsonField::number_from(double least) const {
  if (!value_->is_number() || !(value_->get<double>() >= least)) {
    refuse("a number of at least " + Json(least).dump());
  }
  return value_->get<double>();
}

std::int64_t JsonField::integer(std::int64_t least, std::int64_t most) const {
  // Unsigned numbers above the largest int64 would wrap around to negative ones.
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() ||
                     value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  if (!fits || value_->get<std::int64_t>() < least || value_->get<std::int64_t>() > most) {
    refuse("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value_->get<std::int64_t>();
}

std::uint64_t JsonField::unsigned_integer() const {
  if (!value_->is_number_unsigned()) refuse("a whole number from 0 to 18446744073709551615");
  return value_->get<std::uint64_t>();
}

const JsonField& JsonField::object() const {
  if (!value_->is_object()) refuse("an object");
  return *this;
}

const JsonField& JsonField::array() const {
  if (!value_->is_array()) refuse("an array");
  return *this;
}

void JsonField::refuse(const std::string& expected) const {
  throw InputError(where_ + ": " + (name_.empty() ? "" : name_ + ": ") + "expected " + expected +
                   ", found " + shown_json(*value_) + "; " + advice_);
}

}  // namespace csrkit
