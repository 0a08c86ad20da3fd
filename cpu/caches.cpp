#include "cpu/caches.h"

#include <unistd.h>

#include <algorithm>

namespace csrkit::cpu {

CacheSizes cache_sizes() {
  long private_bytes = 0, last_level_bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  private_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  last_level_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  CacheSizes sizes;
  sizes.private_bytes = private_bytes > 0 ? static_cast<std::uint64_t>(private_bytes) : 1u << 20;
  sizes.last_level_bytes =
      last_level_bytes > 0 ? static_cast<std::uint64_t>(last_level_bytes) : 32u << 20;
  sizes.last_level_bytes = std::max(sizes.last_level_bytes, sizes.private_bytes);
  return sizes;
}

}  // namespace csrkit::cpu
