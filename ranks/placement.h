// Whether ranks on one host stand in each other's way: more threads than processors, masks that
// overlap, threads bound to the same places.
#pragma once

#include <string>
#include <vector>

#include "ranks/communicator.h"

namespace csrkit::ranks {

/// Where one rank runs.
struct Place {
  std::string host;
  int threads = 1;
  std::vector<int> cpus;   // its mask, ascending
  std::vector<int> cores;  // for each of them a number that processors of one core share
  bool is_bound = false;   // OMP_PROC_BIND asks for threads that stay where they are
  /// Ranks of one process share mask and threads' places: they are one to the warnings.
  bool is_thread = false;
};

/// Of this process.
Place this_place(int threads);

/// Every rank's, in their order, on every rank.
std::vector<Place> gather_places(Communicator& communicator, const Place& mine);

/// A sentence for each trap, with the ranks that are in it and the way out. The same on all ranks.
std::vector<std::string> placement_warnings(const std::vector<Place>& places);

/// How many ranks before this one are on its host.
int number_on_host(const std::vector<Place>& places, int rank);

/// `gpus` are the bus addresses of the ranks' GPUs. "" if no two ranks of a host have the same one,
/// or which have.
std::string shared_gpus(const std::vector<Place>& places, const std::vector<std::string>& gpus);

}  // namespace csrkit::ranks
