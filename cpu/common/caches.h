// What the machine says about its caches.
#pragma once

#include <cstdint>

#include "core/base/buffer.h"

namespace csrkit::cpu {

struct CacheSizes {
  std::uint64_t private_bytes;     // of the largest cache that a core has to itself (L2)
  std::uint64_t last_level_bytes;  // of the largest cache
};

/// The sizes that the system reports. Virtual machines often hide their caches: then 1 MiB and
/// 32 MiB, which server processors of recent years have or exceed.
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
