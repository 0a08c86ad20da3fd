// What this build is: the --version text and the facts that go into provenance and records.
#pragma once

#include <string>

namespace csrkit {

std::string version();       // "0.2.0"
std::string commit();        // "1da713e95996", "...-dirty" with changes, "unknown" without git
std::string compiler();      // "GNU 12.2.0 Release"
std::string cuda_version();  // of the compiler, "" if built without CUDA
bool has_metis();
std::string version_text(const std::string& tool);

}  // namespace csrkit
