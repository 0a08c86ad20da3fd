// Text from files, made safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace csrkit {

/// The text with everything that a terminal would obey instead of show as an escape ("\x1b"):
/// control characters, marks that change the direction of writing, and bytes that are no UTF-8.
/// Line ends stay; the rest of UTF-8 stays.
std::string printable(std::string_view text);

/// The same for text that must stay in one line: line ends become "\x0a".
std::string printable_line(std::string_view text);

}  // namespace csrkit
