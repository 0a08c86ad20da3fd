// The ends of texts, their letters, lists in sentences, and numbers in them.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace csrkit {

inline bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

inline bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// With small letters in the place of A to Z, in every locale.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// Appends to a list in a sentence: "rows", then "rows, cols".
inline void append_item(std::string& list, std::string_view item,
                        std::string_view separator = ", ") {
  if (!list.empty()) list += separator;
  list += item;
}

/// printf's "%.<digits>g" of at most 17 digits, with a point in every locale: the library also runs
/// in programs whose printf writes a comma.
inline std::string rounded(double value, int digits = 6) {
  char text[32];
  return {text,
          std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr};
}

}  // namespace csrkit
