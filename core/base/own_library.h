// Libraries of ours that are opened at run time, because not every machine has what they need.
#pragma once

#include <string>

namespace csrkit {

/// `dlopen` of the library called `name` that lies beside the one (or the program) which has this
/// code; where none lies there, of the one that the loader finds. It is named by its folder, as the
/// loader looks in this library's RUNPATH only for calls that come from here: sanitizers and
/// profilers put a function of theirs before `dlopen`, and then the call is theirs.
void* open_own_library(const std::string& name, int flags);

}  // namespace csrkit
