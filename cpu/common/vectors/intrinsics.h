// The intrinsics of the machine, where it has any that are used here, and what they are given.
#pragma once

#if defined(__x86_64__)
// The deliberately undefined registers of GCC's own AVX-512 header set this warning off.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace csrkit::cpu {

/// The first `count` elements of a vector as a mask; fewer than 32.
[[gnu::always_inline]] constexpr unsigned first_elements(int count) { return (1u << count) - 1; }

}  // namespace csrkit::cpu
