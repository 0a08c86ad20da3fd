// Reads from anywhere in memory, made cheaper: larger pages, and asking ahead.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "core/buffer.h"

namespace csrkit::reorder {

/// Asks the system to back a fresh array by pages of 2 MiB: reads from anywhere in it then miss the
/// table of pages less often, which costs as much as a miss of the caches. Before its first use; a
/// wish, no more: a system that cannot or will not goes on with small pages.
template <class T>
void prefer_large_pages(const Buffer<T>& array) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(array.data());
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t last = (begin + array.size_bytes()) / kPage * kPage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

/// Asks for a cache line ahead of its use. GCC takes a function that does nothing but prefetch for
/// one without effects and drops the calls of it; the empty statement is what it must keep.
inline void fetch(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

}  // namespace csrkit::reorder
