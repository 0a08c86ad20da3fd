#include "cpu/common/caches.h"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "core/base/usable_cpus.h"

namespace csrkit::cpu {

namespace {

/// One cache of a processor; level 0 if there is none.
struct Cache {
  int level = 0;
  std::uint64_t bytes = 0;
  std::set<int> cpus;  // that share it
};

/// "0-3,8" -> {0, 1, 2, 3, 8}
std::set<int> read_cpu_list(const std::string& path) {
  constexpr int kMostCpus = 1 << 16;
  std::ifstream list(path);
  std::set<int> cpus;
  for (int first = 0; list >> first;) {
    int last = first;
    if (list.peek() == '-') list.ignore() >> last;
    for (int cpu = first; cpu <= std::min(last, kMostCpus); ++cpu) cpus.insert(cpu);
    if (list.peek() == ',') list.ignore();
  }
  return cpus;
}

/// `folder` is that of one cache.
Cache read_cache(const std::string& folder) {
  Cache cache;
  std::string type;
  std::ifstream(folder + "type") >> type;
  if (type == "Instruction") return cache;
  char unit = 0;
  std::ifstream(folder + "level") >> cache.level;
  std::ifstream(folder + "size") >> cache.bytes >> unit;
  cache.bytes <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
  cache.cpus = read_cpu_list(folder + "shared_cpu_list");
  return cache;
}

std::uint64_t smaller_known(std::uint64_t a, std::uint64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

/// Those of OpenMP's places, where threads are bound: then the mask of the thread that asks is one
/// place.
std::vector<int> team_cpus() {
  std::vector<int> cpus;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> some(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, some.data());
    cpus.insert(cpus.end(), some.begin(), some.end());
  }
  return cpus.empty() ? usable_cpus() : cpus;
}

std::uint64_t told_bytes(int name) {
  return static_cast<std::uint64_t>(std::max(sysconf(name), 0l));
}

CacheSizes ask_for_cache_sizes() {
  CacheSizes sizes = read_cache_sizes("/sys/devices/system/cpu", team_cpus());
#ifdef _SC_LEVEL3_CACHE_SIZE
  if (sizes.last_levels == 0) {
    sizes.private_bytes = told_bytes(_SC_LEVEL2_CACHE_SIZE);
    sizes.last_level_bytes = std::max(told_bytes(_SC_LEVEL3_CACHE_SIZE), sizes.private_bytes);
    sizes.last_levels = sizes.last_level_bytes > 0 ? 1 : 0;
  }
#endif
  return sizes;
}

}  // namespace

CacheSizes read_cache_sizes(const std::string& folder, const std::vector<int>& cpus) {
  constexpr int kMostCaches = 8;  // of a processor
  CacheSizes sizes;
  std::set<int> seen;  // processors whose last level is counted
  for (const int cpu : cpus) {
    if (seen.count(cpu) > 0) continue;
    Cache last;
    std::uint64_t second_bytes = 0;
    for (int index = 0; index < kMostCaches; ++index) {
      const Cache cache = read_cache(folder + "/cpu" + std::to_string(cpu) + "/cache/index" +
                                     std::to_string(index) + "/");
      if (cache.level == 2) second_bytes = cache.bytes;
      if (cache.bytes > 0 && cache.level > last.level) last = cache;
    }
    if (last.level < 2) continue;
    sizes.private_bytes = smaller_known(sizes.private_bytes, second_bytes);
    sizes.last_level_bytes = smaller_known(sizes.last_level_bytes, last.bytes);
    ++sizes.last_levels;
    if (last.cpus.empty()) break;  // not said: by all
    seen.merge(last.cpus);
  }
  sizes.last_level_bytes = std::max(sizes.last_level_bytes, sizes.private_bytes);
  return sizes;
}

const CacheSizes& known_cache_sizes() {
  static const CacheSizes kSizes = ask_for_cache_sizes();
  return kSizes;
}

CacheSizes cache_sizes() {
  CacheSizes sizes = known_cache_sizes();
  if (sizes.private_bytes == 0) sizes.private_bytes = 1u << 20;
  if (sizes.last_level_bytes == 0) sizes.last_level_bytes = 32u << 20;
  sizes.last_level_bytes = std::max(sizes.last_level_bytes, sizes.private_bytes);
  sizes.last_levels = std::max(sizes.last_levels, 1);
  return sizes;
}

void CacheEvictor::evict(int threads) {
  if (words_.size() == 0) {
    words_ = Buffer<std::uint64_t>(static_cast<Offset>(2 * cache_sizes().last_level_bytes / 8));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Offset i = 0; i < words_.size(); ++i) words_[i] = static_cast<std::uint64_t>(i);
  }
  // Every thread reads all of it: last-level caches may belong to some cores only.
  std::uint64_t sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  for (Offset i = 0; i < words_.size(); i += 8) sum += words_[i];
  sum_ = sum;
}

}  // namespace csrkit::cpu
