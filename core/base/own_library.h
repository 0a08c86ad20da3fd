// Libraries of ours that are opened at run time, because not every machine has what they need.
#pragma once

#include <string>

namespace csrkit {

/// Opens, by `dlopen`, the library called `name` in the folder of the library or program that holds
/// this code, or else the one that the loader finds. The folder is named, because the loader looks
/// in this library's RUNPATH only for calls that come from this library: sanitizers and profilers
/// wrap `dlopen`, and then the call comes from them.
void* open_own_library(const std::string& name, int flags);

}  // namespace csrkit
