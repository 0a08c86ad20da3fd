// The intrinsics of the machine, where it has any that are used here.
#pragma once

#if defined(__x86_64__)
// The deliberately undefined registers of GCC's own AVX-512 header set this warning off.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif
