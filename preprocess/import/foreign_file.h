// Files of other programs that csrkit does not read.
#pragma once

#include <string>

namespace csrkit {

struct Peek;

/// What the file is, and the command that unpacks it or two lines of Python that convert it to
/// something that csrkit reads; "" for a file of an unknown kind.
std::string foreign_file(const Peek& peek);

/// For text of no known format: how it begins, and how a list of edges should look; "" for other
/// files.
std::string unknown_text(const Peek& peek);

/// Lines of Python with the path for FILE, which stands in quotes there.
std::string filled(std::string lines, const std::string& path);

}  // namespace csrkit
