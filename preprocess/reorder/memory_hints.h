// Cheaper random reads: larger pages and prefetching.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "core/base/buffer.h"

namespace csrkit::reorder {

/// Asks the system to back an array by pages of 2 MiB. Random reads then miss the TLB less often; a
/// TLB miss costs as much as a cache miss. Call it before the first use of the array. It is a hint:
/// a system without large pages goes on with small ones.
template <class T>
void prefer_large_pages(const Buffer<T>& array) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(array.data());
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t last = (begin + array.size_bytes()) / kPage * kPage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

/// Prefetches a cache line. GCC drops calls of a function that only prefetches, because it sees no
/// effect; the empty statement keeps them.
inline void fetch(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

}  // namespace csrkit::reorder
