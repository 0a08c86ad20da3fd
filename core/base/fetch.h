// Reads that come together instead of one by one.
#pragma once

namespace csrkit {

/// Prefetches a cache line. GCC drops calls of a function that only prefetches, because it sees no
/// effect; the empty statement keeps them.
inline void fetch(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

}  // namespace csrkit
