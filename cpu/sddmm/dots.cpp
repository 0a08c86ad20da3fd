#include "cpu/sddmm/dots.h"

#include <algorithm>
#include <cstring>

#include "cpu/common/caches.h"
#include "cpu/common/vectors/intrinsics.h"

// Each instruction set compiles the same loops in a namespace of its own, so that no function meant
// for one machine can be linked into the path of another. Everything included above was compiled
// for the oldest x86-64 and is inlined where it is used.

namespace csrkit::cpu::sddmm {

namespace {

/// Bytes of a row that are prefetched; after these the hardware follows a long row by itself.
constexpr Offset kAskedBytes = 1024;

// Each set has store_totals: it stores the totals of four vectors side by side, each summed in an
// order that does not depend on its place.

// ---------------------------------------------------------------- any machine: 16-byte vectors
namespace portable {

#include "cpu/common/vectors/portable.inc"

template <class Acc>
void store_totals(Acc* to, const typename Vector<Acc>::Vec* sums) {
  for (int n = 0; n < kDotsAtOnce; ++n) to[n] = Vector<Acc>::total(sums[n]);
}

// The body uses Vector and store_totals.
#include "cpu/sddmm/dots_body.inc"

}  // namespace portable

#if defined(__x86_64__)

// ---------------------------------------------------------------- AVX2, FMA, F16C: 32 bytes
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
namespace avx2 {

#include "cpu/common/vectors/avx2.inc"

/// Lower and upper half of each of two vectors, added.
inline __m256 halves(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}
inline __m256d halves(__m256d a, __m256d b) {
  return _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
}
inline void store_totals(float* to, const __m256* sums) {
  const __m256 pairs = _mm256_hadd_ps(halves(sums[0], sums[1]), halves(sums[2], sums[3]));
  const __m256 all = _mm256_hadd_ps(pairs, pairs);
  _mm_storeu_ps(to, _mm_unpacklo_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}
inline void store_totals(double* to, const __m256d* sums) {
  _mm256_storeu_pd(to, halves(_mm256_hadd_pd(sums[0], sums[1]), _mm256_hadd_pd(sums[2], sums[3])));
}

// The body uses Vector and store_totals.
#include "cpu/sddmm/dots_body.inc"

}  // namespace avx2
#pragma GCC pop_options

// ---------------------------------------------------------------- AVX-512: 64 bytes, masks
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")
namespace avx512 {

#include "cpu/common/vectors/avx512.inc"

/// Lower and upper half of each of two vectors, added.
inline __m512 halves(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
}
inline __m512d halves(__m512d a, __m512d b) {
  return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xee));
}
/// A quarter for each of four vectors, its quarters added.
inline __m512 quarters(const __m512* sums) {
  const __m512 first = halves(sums[0], sums[1]), last = halves(sums[2], sums[3]);
  return _mm512_add_ps(_mm512_shuffle_f32x4(first, last, 0x88),
                       _mm512_shuffle_f32x4(first, last, 0xdd));
}
inline __m512d quarters(const __m512d* sums) {
  const __m512d first = halves(sums[0], sums[1]), last = halves(sums[2], sums[3]);
  return _mm512_add_pd(_mm512_shuffle_f64x2(first, last, 0x88),
                       _mm512_shuffle_f64x2(first, last, 0xdd));
}
inline void store_totals(float* to, const __m512* sums) {
  const __m512 four = quarters(sums);
  const __m512 pairs = _mm512_add_ps(four, _mm512_permute_ps(four, 0xb1));
  const __m512 all = _mm512_add_ps(pairs, _mm512_permute_ps(pairs, 0x4e));
  const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
  _mm_storeu_ps(to, _mm512_castps512_ps128(_mm512_permutexvar_ps(first, all)));
}
inline void store_totals(double* to, const __m512d* sums) {
  const __m512d four = quarters(sums);
  const __m512d all = _mm512_add_pd(four, _mm512_permute_pd(four, 0x55));
  const __m512i first = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6);
  _mm256_storeu_pd(to, _mm512_castpd512_pd256(_mm512_permutexvar_pd(first, all)));
}

// The body uses Vector and store_totals.
#include "cpu/sddmm/dots_body.inc"

}  // namespace avx512
#pragma GCC pop_options

#endif  // __x86_64__

}  // namespace

template <class T>
DotsLoop<T> dots_loop(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return &avx512::dots<T>;
  if (isa == Isa::avx2) return &avx2::dots<T>;
#endif
  (void)isa;
  return &portable::dots<T>;
}

template DotsLoop<float> dots_loop(Isa);
template DotsLoop<double> dots_loop(Isa);
template DotsLoop<f16> dots_loop(Isa);
template DotsLoop<bf16> dots_loop(Isa);

}  // namespace csrkit::cpu::sddmm
