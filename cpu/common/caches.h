// What the machine says about its caches.
#pragma once

#include <cstdint>

#include "core/base/buffer.h"

namespace csrkit::cpu {

struct CacheSizes {
  std::uint64_t private_bytes;     // of the largest cache that a core has to itself (L2)
  std::uint64_t last_level_bytes;  // of the largest cache
};

/// As the system reports them. Virtual machines often hide their caches: then 1 MiB and 32 MiB,
/// which server cores of the last years have or exceed.
CacheSizes cache_sizes();

/// Fills every cache of a team's cores with something else, for cold measurements. Allocates twice
/// the last-level cache at the first call.
class CacheEvictor {
 public:
  void evict(int threads);

 private:
  Buffer<std::uint64_t> words_;
  volatile std::uint64_t sum_ = 0;  // keeps the reads alive
};

}  // namespace csrkit::cpu
