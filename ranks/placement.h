// Whether ranks on one host get in each other's way: more threads than processors, overlapping
// masks, threads bound to the same places.
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
  /// Ranks of one process share the mask and the places of threads, so they count as one.
  bool is_thread = false;
};

/// Of this process.
Place this_place(int threads);

/// Every rank's, in their order, on every rank.
std::vector<Place> gather_places(Communicator& communicator, const Place& mine);

/// A sentence for each problem, with the ranks concerned and the remedy. The same on all ranks.
std::vector<std::string> placement_warnings(const std::vector<Place>& places);

/// How many ranks of a lower number are on the same host.
int number_on_host(const std::vector<Place>& places, int rank);

/// "" if no two ranks of a host have the same GPU, else a text that names those that do. `gpus` are
/// the bus addresses of the ranks' GPUs.
std::string shared_gpus(const std::vector<Place>& places, const std::vector<std::string>& gpus);

}  // namespace csrkit::ranks
