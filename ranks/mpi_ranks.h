// Ranks that a launcher started. Environment variables of the launcher show them; libcsrkit_mpi
// joins them, and is opened only then.
#pragma once

#include <memory>
#include <string>

#include "ranks/mpi_face.h"

namespace csrkit::ranks {

/// The launcher that started this process as one of several, "mpirun" or "srun"; "" if there is
/// none. Throws UsageError for a launcher whose tasks cannot find each other: each would take
/// itself for the only one.
std::string launcher();

/// This process as a rank of MPI. Throws UsageError where libcsrkit_mpi cannot be opened.
std::unique_ptr<Communicator> start_mpi(int lost_exit_code, const OnRankLost& on_lost);

/// "" if this build has a libcsrkit_mpi that can be opened, else why not.
const std::string& why_no_mpi();

}  // namespace csrkit::ranks
