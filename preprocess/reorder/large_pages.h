// Arrays that are read anywhere in large pages.
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

}  // namespace csrkit::reorder
