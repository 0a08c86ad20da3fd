// csr-<operation>-<room>: one operation in one room, from the command line to the exit code.
#pragma once

namespace csrkit {

/// Reads the options and the matrices, tunes or loads a plan if asked, makes the product, checks,
/// writes and times it, and reports. The exit code is 1 if the product is wrong.
int run_operation_tool(const char* operation, const char* room, int argc, const char* const* argv);

}  // namespace csrkit
