// What --verbose says in every tool of what this process may use of its machine.
#pragma once

#include <string>

namespace csrkit {

/// Says with --verbose: threads, cores, instruction set and memory. `threads` as in team_size;
/// `memory_limit` is what the command line says of a limit, "" = nothing.
void say_process(int threads, const std::string& memory_limit);

}  // namespace csrkit
