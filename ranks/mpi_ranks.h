// Ranks that a launcher started: found by what it left in the environment, joined through
// libcsrkit_mpi, which is opened only then.
#pragma once

#include <memory>
#include <string>

#include "ranks/mpi_face.h"

namespace csrkit::ranks {

/// Who started this process as one of several: "mpirun", "srun --mpi=pmix"; "" if nobody did.
/// Throws UsageError for a launcher that gives its tasks no way to find each other: each would take
/// itself for the only one.
std::string launcher();

/// This process as a rank of MPI. Throws UsageError where libcsrkit_mpi cannot be opened.
std::unique_ptr<Communicator> start_mpi(int lost_exit_code, const OnRankLost& on_lost);

/// Whether this build has libcsrkit_mpi, and it can be opened: "", or why not.
const std::string& why_no_mpi();

}  // namespace csrkit::ranks
