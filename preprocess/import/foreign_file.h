// Files of other programs that csrkit does not read.
#pragma once

#include <string>

namespace csrkit {

struct Peek;

/// What the file is, and two lines of Python that make something of it which csrkit reads; "" for
/// files that nobody here knows.
std::string foreign_file(const Peek& peek);

/// Of text that no format knows: how it begins, and what a list of edges would look like; "" for
/// other files.
std::string unknown_text(const Peek& peek);

}  // namespace csrkit
