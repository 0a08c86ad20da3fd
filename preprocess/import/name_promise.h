// What the ending of a file's name says about its content.
#pragma once

#include <string>

namespace csrkit {

struct FormatReader;

/// Throws InputError if the ending of `path` belongs to another format than the content (null: no
/// format was found). The ending of a compressed file is the one before ".gz" and the like.
void require_promise_kept(const std::string& path, const FormatReader* found);

/// Whether the ending of `path` belongs to the format of this name.
bool promises(const std::string& path, const std::string& format);

/// The name of the format whose files end with `ending` (".mtx"), "" if there is none.
std::string format_of_ending(const std::string& ending);

}  // namespace csrkit
