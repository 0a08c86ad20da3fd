// Copies that go past the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "core/base/types.h"
#include "cpu/common/caches.h"

namespace csrkit::cpu {

/// Where in a cache line an address lies.
inline Offset place_in_line(const void* address) {
  return static_cast<Offset>(reinterpret_cast<std::uintptr_t>(address) % kCacheLineBytes);
}

/// Copies bytes, whole lines of `to` past the caches. Others may write the rest of the first and of
/// the last line. What was copied is visible to them after finish_streams().
inline void stream_lines(void* to, const void* from, Offset bytes) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  const Offset head = std::min((kCacheLineBytes - place_in_line(to)) % kCacheLineBytes, bytes);
  const Offset end = head + (bytes - head) / kCacheLineBytes * kCacheLineBytes;
  std::memcpy(out, in, static_cast<std::size_t>(head));
#if defined(__x86_64__)
  for (Offset at = head; at < end; at += Offset{sizeof(__m128i)}) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at)));
  }
#else
  std::memcpy(out + head, in + head, static_cast<std::size_t>(end - head));
#endif
  std::memcpy(out + end, in + end, static_cast<std::size_t>(bytes - end));
}

inline void finish_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace csrkit::cpu
