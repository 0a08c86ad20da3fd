// What this process may use of its machine, and what --verbose says of it in every tool.
#pragma once

#include <string>
#include <vector>

namespace csrkit {

/// The numbers of the cores this process may use (its affinity mask).
std::vector<int> usable_cpus();

/// {0, 1, 2, 5} -> "0-2,5"
std::string ranges_of(const std::vector<int>& numbers);

/// Says with --verbose: threads, cores, instruction set and memory. `threads` as in team_size;
/// `memory_limit` is what the command line says of a limit, "" = nothing.
void say_process(int threads, const std::string& memory_limit);

}  // namespace csrkit
