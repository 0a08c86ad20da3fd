// Loads of data that every product reads once. A share of it stays in L2 for the next product; the
// rest is evicted first. If all lines were treated alike and exceeded L2, each would be evicted
// before its next use.
#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.cuh"

namespace csrkit::gpu {

/// The L2 policy for load_partly_kept: `share` (0 to 1) of the lines is kept.
__device__ inline std::uint64_t kept_policy(float share) {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_normal.L2::evict_first.b64 %0, %1;"
      : "=l"(policy)
      : "f"(share));
  return policy;
}

/// kWidth neighbouring elements by one instruction. The address must be a multiple of the pack's
/// size.
template <int kWidth, class T>
__device__ inline Pack<T, kWidth> load_partly_kept(const T* from, std::uint64_t policy) {
  constexpr int kBytes = static_cast<int>(sizeof(T)) * kWidth;
  typename detail::Word<kBytes>::type word;
  if constexpr (kBytes == 2) {
    asm("ld.global.nc.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(word) : "l"(from), "l"(policy));
  } else if constexpr (kBytes == 4) {
    asm("ld.global.nc.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(word) : "l"(from), "l"(policy));
  } else if constexpr (kBytes == 8) {
    asm("ld.global.nc.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
        : "=r"(word.x), "=r"(word.y)
        : "l"(from), "l"(policy));
  } else {
    asm("ld.global.nc.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
        : "l"(from), "l"(policy));
  }
  Pack<T, kWidth> pack;
  memcpy(&pack, &word, sizeof word);
  return pack;
}

}  // namespace csrkit::gpu
