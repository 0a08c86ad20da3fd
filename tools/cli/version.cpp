#include "tools/cli/version.h"

#include <commit.h>  // made at build time

namespace csrkit {

std::string version() { return CSRKIT_VERSION; }
std::string commit() { return CSRKIT_COMMIT; }
std::string compiler() { return CSRKIT_COMPILER " " CSRKIT_BUILD_TYPE; }
std::string cuda_version() { return CSRKIT_CUDA_VERSION; }
bool has_metis() { return CSRKIT_METIS_BUILT != 0; }

std::string version_text(const std::string& tool) {
  return tool + " (csrkit) " + version() + "\ncommit: " + commit() + "\ncompiler: " + compiler() +
         "\nCUDA: " + (cuda_version().empty() ? "no" : cuda_version()) +
         "\nMETIS: " + (has_metis() ? "yes" : "no") + "\n";
}

}  // namespace csrkit
