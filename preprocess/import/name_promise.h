// What the name of a file says about its content.
#pragma once

#include <string>

namespace csrkit {

struct FormatReader;

/// Throws InputError if the ending of `path` belongs to another format than the one that was found
/// in the content (null: none was). An ending of a compressed file counts as the one before it.
void require_promise_kept(const std::string& path, const FormatReader* found);

/// Whether the ending of `path` belongs to the format of this name.
bool promises(const std::string& path, const std::string& format);

/// The name of the format whose files end with `ending` (".mtx"), "" if there is none.
std::string format_of_ending(const std::string& ending);

}  // namespace csrkit
