// csr-solve-<room>: from the command line to the exit code.
#pragma once

namespace csrkit {

/// Reads or makes the system, looks whether it can be solved, solves, judges and reports. Exit code
/// 1 if it is not solved: then the best iterate is written under another name.
int run_solve_tool(const char* room, int argc, const char* const* argv);

}  // namespace csrkit
