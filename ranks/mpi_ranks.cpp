#include "ranks/mpi_ranks.h"

#include <dlfcn.h>

#include <cstdlib>

#include "core/base/build_id.h"
#include "core/base/own_library.h"

namespace csrkit::ranks {

namespace {

struct MpiLibrary {
  const MpiFace* face = nullptr;
  std::string why_not;
};

MpiLibrary open_mpi_library() {
  if (!CSRKIT_MPI_CODE) {
    return {nullptr, "this build has none; install an MPI (libopenmpi-dev) and build again"};
  }
  // Global: Open MPI opens parts of itself that look for its functions among all others.
  void* const library = open_own_library(CSRKIT_MPI_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const std::string reason = dlerror();
    return {nullptr, reason + "; install MPI's libraries, and libcsrkit_mpi beside libcsrkit"};
  }
  // POSIX lets dlsym's result be a function.
  const auto entry = reinterpret_cast<MpiFaceEntry*>(dlsym(library, kMpiFaceEntry));
  const MpiFace* const face = entry == nullptr ? nullptr : entry();
  if (face == nullptr || std::string(face->build_id) != build_id()) {
    return {nullptr, std::string(CSRKIT_MPI_LIBRARY) +
                         " is of another build than this program; install both from the same one"};
  }
  return {face, ""};
}

const MpiLibrary& mpi_library() {
  static const MpiLibrary library = open_mpi_library();
  return library;
}

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

}  // namespace

std::string launcher() {
  if (is_set("OMPI_COMM_WORLD_SIZE")) return "mpirun";
  if (is_set("PMIX_RANK") || is_set("PMI_RANK")) {
    return is_set("SLURM_PROCID") ? "srun" : "mpirun";
  }
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (is_set("SLURM_PROCID") && tasks != nullptr && std::atoi(tasks) > 1) {
    throw UsageError("srun started " + std::string(tasks) +
                     " tasks that cannot find each other; add --mpi=pmix to srun");
  }
  return "";
}

const std::string& why_no_mpi() { return mpi_library().why_not; }

std::unique_ptr<Communicator> start_mpi(int lost_exit_code, const OnRankLost& on_lost) {
  if (const MpiFace* const face = mpi_library().face) return face->start(lost_exit_code, on_lost);
  throw UsageError("ranks of " + launcher() + " need libcsrkit_mpi: " + why_no_mpi());
}

}  // namespace csrkit::ranks
