#include "core/base/own_library.h"

#include <dlfcn.h>
#include <unistd.h>

namespace csrkit {

void* open_own_library(const std::string& name, int flags) {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&open_own_library), &here) != 0) {
    const std::string path = here.dli_fname;
    const std::size_t slash = path.rfind('/');
    const std::string beside = path.substr(0, slash + 1) + name;
    if (slash != std::string::npos && access(beside.c_str(), F_OK) == 0) {
      return dlopen(beside.c_str(), flags);
    }
  }
  return dlopen(name.c_str(), flags);
}

}  // namespace csrkit
