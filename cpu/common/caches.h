// What the machine says about its caches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/buffer.h"

namespace csrkit::cpu {

/// Bytes of a cache line, on every x86-64 there is.
inline constexpr Offset kCacheLineBytes = 64;

struct CacheSizes {
  std::uint64_t private_bytes = 0;     // of a core's own cache (L2)
  std::uint64_t last_level_bytes = 0;  // of one last-level cache, at least private_bytes
  int last_levels = 0;                 // how many of these the processors have among them
};

/// What Linux says of the caches of some processors below `folder` (/sys/devices/system/cpu); 0
/// where it does not say. Where processors differ, the smallest.
CacheSizes read_cache_sizes(const std::string& folder, const std::vector<int>& cpus);

/// Of the processors that OpenMP's threads may run on, asked once: by Linux, as the C library may
/// count the caches of a whole host, of which a virtual machine has a part; else by the C library;
/// 0 where neither says.
const CacheSizes& known_cache_sizes();

/// The same, but 1 MiB and one last level of 32 MiB where nothing is known: server processors of
/// recent years have or exceed them.
CacheSizes cache_sizes();

/// Fills all caches of a team's cores with other data, for cold measurements. The first call
/// allocates twice the size of the last-level cache.
class CacheEvictor {
 public:
  void evict(int threads);

 private:
  Buffer<std::uint64_t> words_;
  volatile std::uint64_t sum_ = 0;  // keeps the reads alive
};

}  // namespace csrkit::cpu
