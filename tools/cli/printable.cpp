#include "tools/cli/printable.h"

#include <cstddef>
#include <cstdint>

namespace csrkit {

namespace {

/// Bytes of the UTF-8 character that `text` begins with, 0 if it begins with none.
std::size_t character_size(std::string_view text, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80             ? 1
                           : (byte(0) & 0xe0) == 0xc0 ? 2
                           : (byte(0) & 0xf0) == 0xe0 ? 3
                           : (byte(0) & 0xf8) == 0xf0 ? 4
                                                      : 0;
  if (size == 0 || size > text.size()) return 0;
  code = size == 1 ? byte(0) : byte(0) & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // longer forms are forgeries
  return code >= kLeast[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? size : 0;
}

bool is_obeyed(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||  // C0, DEL, C1
         code == 0x61c || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) ||  // line separators, directions of writing
         (code >= 0x2066 && code <= 0x2069);
}

std::string made_printable(std::string_view text, bool keeps_line_ends) {
  std::string result;
  while (!text.empty()) {
    std::uint32_t code = 0;
    std::size_t size = character_size(text, code);
    const bool stays = size > 0 && (!is_obeyed(code) || (keeps_line_ends && code == '\n'));
    if (size == 0) size = 1;
    for (std::size_t i = 0; i < size; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (stays) {
        result += text[i];
      } else {
        result += {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
      }
    }
    text.remove_prefix(size);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return made_printable(text, true); }
std::string printable_line(std::string_view text) { return made_printable(text, false); }

}  // namespace csrkit
