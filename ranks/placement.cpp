#include "ranks/placement.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/base/counted.h"
#include "core/base/text.h"
#include "core/base/usable_cpus.h"

namespace csrkit::ranks {

namespace {

/// The lowest processor of the same core: its siblings say the same.
int core_of(int cpu) {
  std::ifstream list("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                     "/topology/thread_siblings_list");
  int first = cpu;
  return list >> first ? first : cpu;
}

bool is_bound_by_environment() {
  const char* const text = std::getenv("OMP_PROC_BIND");
  if (text == nullptr) return std::getenv("OMP_PLACES") != nullptr;
  std::string word = text;
  std::transform(word.begin(), word.end(), word.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return !word.empty() && word != "false";
}

std::string numbered(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranges_of(ranks);
}

/// Ranks of one host whose masks overlap, directly or through others.
struct Group {
  std::vector<int> ranks;
  std::set<int> cpus, cores;
  int threads = 0;
};

std::vector<Group> groups_of(const std::vector<Place>& places, const std::vector<int>& ranks) {
  std::vector<Group> groups;
  for (const int rank : ranks) {
    const Place& place = places[static_cast<std::size_t>(rank)];
    Group merged;
    merged.ranks = {rank};
    merged.cpus.insert(place.cpus.begin(), place.cpus.end());
    merged.cores.insert(place.cores.begin(), place.cores.end());
    merged.threads = place.threads;
    std::vector<Group> apart;
    for (Group& group : groups) {
      const bool overlaps = std::any_of(place.cpus.begin(), place.cpus.end(),
                                        [&](int cpu) { return group.cpus.count(cpu) > 0; });
      if (!overlaps) {
        apart.push_back(std::move(group));
        continue;
      }
      merged.ranks.insert(merged.ranks.end(), group.ranks.begin(), group.ranks.end());
      merged.cpus.insert(group.cpus.begin(), group.cpus.end());
      merged.cores.insert(group.cores.begin(), group.cores.end());
      merged.threads += group.threads;
    }
    apart.push_back(std::move(merged));
    groups = std::move(apart);
  }
  for (Group& group : groups) std::sort(group.ranks.begin(), group.ranks.end());
  return groups;
}

constexpr char kWayOut[] =
    "give every rank processors of its own (mpirun --map-by slot:PE=THREADS --bind-to core, srun "
    "--cpus-per-task=THREADS), or set OMP_NUM_THREADS lower";

}  // namespace

Place this_place(int threads) {
  Place place;
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  place.host = host;
  place.threads = threads;
  place.cpus = usable_cpus();
  for (const int cpu : place.cpus) place.cores.push_back(core_of(cpu));
  place.is_bound = is_bound_by_environment();
  return place;
}

std::vector<Place> gather_places(Communicator& communicator, const Place& mine) {
  std::ostringstream text;
  text << mine.host << ' ' << mine.threads << ' ' << mine.is_bound << ' ' << mine.is_thread << ' '
       << mine.cpus.size();
  for (const int cpu : mine.cpus) text << ' ' << cpu;
  for (const int core : mine.cores) text << ' ' << core;
  std::vector<Place> places;
  for (const std::string& from : communicator.gather(text.str())) {
    std::istringstream words(from);
    Place place;
    std::size_t cpus = 0;
    words >> place.host >> place.threads >> place.is_bound >> place.is_thread >> cpus;
    place.cpus.resize(cpus);
    place.cores.resize(cpus);
    for (int& cpu : place.cpus) words >> cpu;
    for (int& core : place.cores) words >> core;
    places.push_back(std::move(place));
  }
  return places;
}

std::vector<std::string> placement_warnings(const std::vector<Place>& places) {
  std::map<std::string, std::vector<int>> ranks_of_host;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (!places[rank].cpus.empty()) {
      ranks_of_host[places[rank].host].push_back(static_cast<int>(rank));
    }
  }
  std::vector<std::string> warnings;
  for (const auto& [host, ranks] : ranks_of_host) {
    for (const Group& group : groups_of(places, ranks)) {
      const std::string who = numbered(group.ranks) + " on " + host;
      const std::string where = ranges_of({group.cpus.begin(), group.cpus.end()});
      const auto is_any = [&](bool Place::*claim) {
        return std::any_of(group.ranks.begin(), group.ranks.end(),
                           [&](int rank) { return places[static_cast<std::size_t>(rank)].*claim; });
      };
      const auto threads = static_cast<std::size_t>(group.threads);
      const bool is_shared = group.ranks.size() > 1 && !is_any(&Place::is_thread);
      if (is_shared && is_any(&Place::is_bound)) {
        warnings.push_back(who + " share the processors " + where +
                           ", and OMP_PROC_BIND or OMP_PLACES binds the threads of each to the "
                           "same ones; " +
                           kWayOut + ", or unset OMP_PROC_BIND and OMP_PLACES");
      } else if (threads > group.cpus.size()) {
        warnings.push_back(who + ": " + counted(threads, "thread") + " on " +
                           counted(group.cpus.size(), "processor") + " (" + where + "); " +
                           kWayOut);
      } else if (threads > group.cores.size()) {
        warnings.push_back(who + ": " + counted(threads, "thread") + " on " +
                           std::to_string(group.cores.size()) +
                           " cores: two on one core share its vector units; " + kWayOut);
      }
    }
  }
  return warnings;
}

int number_on_host(const std::vector<Place>& places, int rank) {
  const std::string& host = places[static_cast<std::size_t>(rank)].host;
  return static_cast<int>(std::count_if(places.begin(), places.begin() + rank,
                                        [&](const Place& place) { return place.host == host; }));
}

std::string shared_gpus(const std::vector<Place>& places, const std::vector<std::string>& gpus) {
  std::map<std::string, std::vector<int>> ranks_of;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    ranks_of[gpus[rank] + " on " + places[rank].host].push_back(static_cast<int>(rank));
  }
  std::string text;
  for (const auto& [gpu, ranks] : ranks_of) {
    if (ranks.size() > 1) {
      append_item(text, numbered(ranks) + " share the GPU " + gpu);
    }
  }
  return text;
}

}  // namespace csrkit::ranks
