#include "cpu/common/caches.h"

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
