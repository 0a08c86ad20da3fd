#include "preprocess/import/source/scan.h"

#include <fast_float/fast_float.h>

#include <cmath>
#include <cstring>

namespace csrkit {

namespace scan {

namespace {

bool says_infinity(const char* at) {
  if (*at == '-') ++at;
  return *at == 'i' || *at == 'I';
}

/// The longest a real number with a Fortran exponent may be; anything longer is no number.
constexpr std::size_t kLongestFortranNumber = 128;

}  // namespace

template <class T>
bool read_real(const char*& at, const char* end, T& number) {
  const char* begin = at;
  if (*begin == '+') {
    ++begin;
    if (*begin == '-' || *begin == '+') return false;
  }
  fast_float::from_chars_result result = fast_float::from_chars(begin, end, number);
  if (result.ptr == begin) return false;
  if (*result.ptr == 'd' || *result.ptr == 'D') {
    // Fortran's double exponent: the same number with an e.
    const char* stop = result.ptr + 1;
    if (*stop == '+' || *stop == '-') ++stop;
    if (!is_digit(*stop)) return false;
    while (is_digit(*stop)) ++stop;
    char copy[kLongestFortranNumber];
    const auto size = static_cast<std::size_t>(stop - begin);
    if (size > sizeof copy) return false;
    std::memcpy(copy, begin, size);
    copy[result.ptr - begin] = 'e';
    result = fast_float::from_chars(copy, copy + size, number);
    if (result.ptr != copy + size) return false;
    result.ptr = stop;
  }
  if (std::isinf(number) && !says_infinity(begin)) return false;
  at = result.ptr;
  return true;
}

template bool read_real(const char*& at, const char* end, float& number);
template bool read_real(const char*& at, const char* end, double& number);

bool is_written_zero(const char* at, const char* end) {
  for (; at != end && *at != 'e' && *at != 'E' && *at != 'd' && *at != 'D'; ++at) {
    if (*at >= '1' && *at <= '9') return false;
  }
  return true;
}

std::string quote(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kShown)) {
    if (c >= 32 && c < 127) {
      quoted += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      quoted += std::string("\\x") + "0123456789abcdef"[byte >> 4] + "0123456789abcdef"[byte & 15];
    }
  }
  return quoted + (text.size() > kShown ? "...\"" : "\"");
}

std::string quote_word(const char* at) {
  const char* end = at;
  while (!is_blank(*end) && *end != '\n' && *end != ',' && *end != ';' && end - at < 64) ++end;
  std::string_view word(at, static_cast<std::size_t>(end - at));
  if (*end == '\n' && !word.empty() && word.back() == '\r') word.remove_suffix(1);
  if (word.empty()) return *end == '\n' || *end == '\r' ? "the end of the line" : quote({end, 1});
  return quote(word);
}

}  // namespace scan

}  // namespace csrkit
