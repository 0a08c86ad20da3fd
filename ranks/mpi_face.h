// What libcsrkit_mpi offers to programs, which open it at run time (ranks/mpi_ranks.cpp does), so
// that they start without MPI. No MPI in this header.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ranks/communicator.h"

namespace csrkit::ranks {

/// Called before the process ends because a rank on this host is gone, by the thread that noticed.
using OnRankLost = std::function<void(const std::string& why)>;

struct MpiFace {
  /// build_id() of the libcsrkit that the library was built with. Read it first.
  const char* build_id;
  /// MPI_Init to MPI_Finalize. At most one in the life of a process. `lost_exit_code` is what all
  /// ranks end with if one disappears.
  std::unique_ptr<Communicator> (*start)(int lost_exit_code, const OnRankLost& on_lost);
};

inline constexpr char kMpiFaceEntry[] = "csrkit_mpi_face";
using MpiFaceEntry = const MpiFace*();

}  // namespace csrkit::ranks

/// The only function that programs look up. Never null.
extern "C" const csrkit::ranks::MpiFace* csrkit_mpi_face();
