// Which processors this process may use.
#pragma once

#include <string>
#include <vector>

namespace csrkit {

/// The numbers of the processors in this process's affinity mask, ascending; all that are on line
/// where the machine has more than a mask can name.
std::vector<int> usable_cpus();

/// {0, 1, 2, 5} -> "0-2,5"
std::string ranges_of(const std::vector<int>& numbers);

}  // namespace csrkit
