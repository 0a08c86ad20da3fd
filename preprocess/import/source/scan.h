// Numbers in text, fast.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace csrkit {

/// Reads numbers from text after which a line end always follows, so that no other bound is needed.
namespace scan {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}

/// Reads digits and moves `at` after them. False if there are none or more than 18.
inline bool read_digits(const char*& at, std::uint64_t& number) {
  const char* const begin = at;
  std::uint64_t sum = 0;
  for (unsigned digit; (digit = static_cast<unsigned char>(*at - '0')) < 10; ++at) {
    sum = sum * 10 + digit;
  }
  number = sum;
  return at != begin && at - begin <= 18;
}

/// Reads a decimal number (exponent e, E, d or D; inf; nan). False if there is none or if it does
/// not fit T; `at` stays then.
template <class T>
bool read_real(const char*& at, const char* end, T& number);
extern template bool read_real(const char*& at, const char* end, float& number);
extern template bool read_real(const char*& at, const char* end, double& number);

/// Whether the number that read_real found from `at` to `end` is 0 as written, not only as stored.
bool is_written_zero(const char* at, const char* end);

/// The word at `at`, for messages: quoted, shortened, unprintable bytes as \xNN.
std::string quote_word(const char* at);
std::string quote(std::string_view text);

}  // namespace scan

}  // namespace csrkit
