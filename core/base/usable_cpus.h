// Which processors this process may use.
#pragma once

#include <string>
#include <vector>

namespace csrkit {

/// The numbers of the processors in this process's affinity mask, ascending. On a machine with more
/// processors than a mask can name, the numbers of all that are online.
std::vector<int> usable_cpus();

/// {0, 1, 2, 5} -> "0-2,5"
std::string ranges_of(const std::vector<int>& numbers);

}  // namespace csrkit
