// csr-solve-<room>: its command line.
#pragma once

#include <string>
#include <vector>

#include "core/contract/solve.h"
#include "core/file/csr_file.h"

namespace csrkit {

struct SolveToolOptions {
  std::string room;
  std::string matrix;       // .csr or .npy; "" = a dense one is generated
  Index generate_rows = 0;  // its size
  double condition = 1;
  std::string rhs;    // ones, random, from-solution, or a file
  std::string guess;  // a file, "" = 0
  Index right_hand_sides = 1;
  bool gives_right_hand_sides = false;  // else a file says how many
  std::uint64_t seed = 1;
  std::string kernel;
  std::string output, best_iterate;  // files: the solution, or what there is instead of one
  std::string blocks;                // "partition", or rows per block
  SolveProblem problem;              // all but the matrix, the columns and the blocks
  PlanOptions plan;
  int repeat = 1;
  CsrReadOptions read;
  bool as_json = false;
  std::vector<std::string> command_line;

  bool generates() const { return matrix.empty(); }
  /// What begins a message about A.
  std::string matrix_name() const { return generates() ? "--generate-dense" : matrix; }
};

/// Throws UsageError; prints and throws Finished for --help, --version and --list.
SolveToolOptions parse_solve_options(const std::string& tool, const std::string& room, int argc,
                                     const char* const* argv);

/// The table of a room's solvers. Throws UsageError in a build without that room.
const KernelTable<Solve>& solvers_of(const std::string& room, const std::string& tool);

}  // namespace csrkit
