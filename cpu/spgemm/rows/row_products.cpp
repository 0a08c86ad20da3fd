#include "cpu/spgemm/rows/row_products.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "cpu/common/caches.h"
#include "cpu/common/vectors/intrinsics.h"

// Each instruction set compiles the same loops in a namespace of its own, so that no function meant
// for one machine can be linked into the path of another. Everything included above was compiled
// for the oldest x86-64 and is inlined where it is used.

namespace csrkit::cpu {

namespace {

// ---------------------------------------------------------------- any machine
namespace portable {

/// Rows of very few products have no way of their own here.
inline constexpr bool kCountsTinyRows = false;
template <class Job, class Semi>
inline constexpr bool kHasTinyRows = false;
inline constexpr bool kTinyRowsAreFused = false;
inline constexpr bool kHasTinyBatches = false;
template <class Job>
class TinyBatch;
inline constexpr Offset kMostListed = 0;
inline constexpr bool kListsAnyOrder = false;
template <class Acc>
class ColumnList;

template <class Acc>
Acc multiply_add(Acc sum, Acc x, Acc y) {
  return sum + x * y;
}

constexpr Index kSmallSort = 64;

inline std::uint64_t* sort_small(std::uint64_t* keys, std::uint64_t*, Index count) {
  std::sort(keys, keys + count);
  return keys;
}

#include "cpu/spgemm/accumulators/row_products_flags.inc"
// The body uses count_flags and emit_flagged.
#include "cpu/spgemm/rows/row_products_body.inc"

}  // namespace portable

#if defined(__x86_64__)

// ---------------------------------------------------------------- AVX2, FMA
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi,popcnt")
namespace avx2 {

inline float multiply_add(float sum, float x, float y) { return __builtin_fmaf(x, y, sum); }
inline double multiply_add(double sum, double x, double y) { return __builtin_fma(x, y, sum); }

// Uses multiply_add.
#include "cpu/spgemm/accumulators/tiny_rows_avx2.inc"
inline constexpr bool kHasTinyBatches = false;
template <class Job>
class TinyBatch;
// Uses lanes of tiny_rows_avx2.inc.
#include "cpu/spgemm/accumulators/column_list_avx2.inc"

constexpr Index kSmallSort = 64;

/// By rank: how many columns are smaller. Quadratic, without a branch that depends on the data.
inline std::uint64_t* sort_small(std::uint64_t* keys, std::uint64_t* copy, Index count) {
  alignas(32) Index cols[kSmallSort];
  for (Index i = 0; i < kSmallSort; ++i) {
    cols[i] = i < count ? static_cast<Index>(keys[i] >> 32) : std::numeric_limits<Index>::max();
  }
  for (Index i = 0; i < count; ++i) {
    const __m256i col = _mm256_set1_epi32(cols[i]);
    int rank = 0;
    for (Index j = 0; j < count; j += 8) {
      const __m256i others = _mm256_load_si256(reinterpret_cast<const __m256i*>(cols + j));
      const __m256i smaller = _mm256_cmpgt_epi32(col, others);
      rank += __builtin_popcount(
          static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(smaller))));
    }
    copy[rank] = keys[i];
  }
  return copy;
}

#include "cpu/spgemm/accumulators/row_products_flags.inc"
// The body uses count_flags and emit_flagged.
#include "cpu/spgemm/rows/row_products_body.inc"

}  // namespace avx2
#pragma GCC pop_options

// ---------------------------------------------------------------- AVX-512
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi,popcnt")
namespace avx512 {

inline float multiply_add(float sum, float x, float y) { return __builtin_fmaf(x, y, sum); }
inline double multiply_add(double sum, double x, double y) { return __builtin_fma(x, y, sum); }

#include "cpu/spgemm/accumulators/column_list_avx512.inc"
#include "cpu/spgemm/accumulators/tiny_sums_avx512.inc"
// Uses sums of tiny_sums_avx512.inc.
#include "cpu/spgemm/accumulators/tiny_rows_avx512.inc"
// Uses multiply_add and rows of tiny_rows_avx512.inc.
#include "cpu/spgemm/accumulators/tiny_batch_avx512.inc"

constexpr Index kSmallSort = 128;

inline std::uint64_t* sort_small(std::uint64_t* keys, std::uint64_t* copy, Index count) {
  alignas(64) Index cols[kSmallSort];
  const Index padded = (count + 15) / 16 * 16;
  for (Index i = 0; i < padded; ++i) {
    cols[i] = i < count ? static_cast<Index>(keys[i] >> 32) : std::numeric_limits<Index>::max();
  }
  for (Index i = 0; i < count; ++i) {
    const __m512i col = _mm512_set1_epi32(cols[i]);
    int rank = 0;
    for (Index j = 0; j < count; j += 16) {
      rank += __builtin_popcount(_mm512_cmplt_epi32_mask(_mm512_load_si512(cols + j), col));
    }
    copy[rank] = keys[i];
  }
  return copy;
}

template <class Acc>
struct CompressedSums;

template <>
struct CompressedSums<double> {
  static constexpr int kWidth = 8;
  /// Columns base, base + 1, ... and sums of the elements in `met`, side by side; the sums are
  /// reset.
  static void move(unsigned met, double* sums, Index base, double alpha, double empty, Index* cols,
                   double* values) {
    const auto mask = static_cast<__mmask8>(met);
    const auto first = static_cast<__mmask8>(first_elements(__builtin_popcount(met)));
    const __m512d scaled = _mm512_mul_pd(_mm512_loadu_pd(sums), _mm512_set1_pd(alpha));
    _mm512_mask_storeu_pd(values, first, _mm512_maskz_compress_pd(mask, scaled));
    const __m256i all =
        _mm256_add_epi32(_mm256_set1_epi32(base), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm256_mask_storeu_epi32(cols, first, _mm256_maskz_compress_epi32(mask, all));
    _mm512_storeu_pd(sums, _mm512_set1_pd(empty));
  }
};

template <>
struct CompressedSums<float> {
  static constexpr int kWidth = 16;
  static void move(unsigned met, float* sums, Index base, float alpha, float empty, Index* cols,
                   float* values) {
    const auto mask = static_cast<__mmask16>(met);
    const auto first = static_cast<__mmask16>(first_elements(__builtin_popcount(met)));
    const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(sums), _mm512_set1_ps(alpha));
    _mm512_mask_storeu_ps(values, first, _mm512_maskz_compress_ps(mask, scaled));
    const __m512i all =
        _mm512_add_epi32(_mm512_set1_epi32(base),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    _mm512_mask_storeu_epi32(cols, first, _mm512_maskz_compress_epi32(mask, all));
    _mm512_storeu_ps(sums, _mm512_set1_ps(empty));
  }
};

/// How many flags of a range are set. They are reset.
inline Index count_flags(std::uint8_t* flags, Index width) {
  Offset count = 0;
  for (Index i = 0; i < width; i += 64) {
    const __m512i here = _mm512_loadu_si512(flags + i);
    const __mmask64 met = _mm512_test_epi8_mask(here, here);
    if (met == 0) continue;
    count += __builtin_popcountll(met);
    _mm512_storeu_si512(flags + i, _mm512_setzero_si512());
  }
  return static_cast<Index>(count);
}

/// The sums whose flags are set, side by side. Both are reset.
template <class Acc>
Index emit_flagged(Acc* sums, std::uint8_t* flags, Index width, Index base, Acc alpha, Acc empty,
                   Index* cols, Acc* values) {
  constexpr int kWidth = CompressedSums<Acc>::kWidth;
  constexpr int kFewFlags = 8;
  Index count = 0;
  for (Index i = 0; i < width; i += 64) {
    const __m512i here = _mm512_loadu_si512(flags + i);
    __mmask64 met = _mm512_test_epi8_mask(here, here);
    if (met == 0) continue;
    _mm512_storeu_si512(flags + i, _mm512_setzero_si512());
    if (__builtin_popcountll(met) <= kFewFlags) {
      // One by one: a branch per flag group that is hit by chance costs more.
      do {
        const Index at = i + __builtin_ctzll(met);
        cols[count] = base + at;
        values[count++] = alpha * sums[at];
        sums[at] = empty;
        met &= met - 1;
      } while (met != 0);
      continue;
    }
    Index at = i;
    do {
      const auto elements = static_cast<unsigned>(met & first_elements(kWidth));
      if (elements != 0) {
        CompressedSums<Acc>::move(elements, sums + at, base + at, alpha, empty, cols + count,
                                  values + count);
        count += __builtin_popcount(elements);
      }
      at += kWidth;
      met >>= kWidth;
    } while (met != 0);
  }
  return count;
}

/// Moves the columns that were not met again to the front, in their order. Returns how many. Whole
/// vectors are read and written, up to kMetPadding elements behind the last product.
inline Index keep_fresh(Index* met, const std::uint8_t* again, Index products) {
  Index count = 0;
  for (Index i = 0; i < products; i += kMetPadding) {
    const Index here = products - i < kMetPadding ? products - i : kMetPadding;
    const __m128i flags = _mm_loadu_si128(reinterpret_cast<const __m128i*>(again + i));
    const auto fresh =
        static_cast<__mmask16>(_mm_testn_epi8_mask(flags, flags) & first_elements(here));
    _mm512_storeu_si512(met + count,
                        _mm512_maskz_compress_epi32(fresh, _mm512_loadu_si512(met + i)));
    count += __builtin_popcount(fresh);
  }
  return count;
}

#include "cpu/spgemm/rows/row_products_body.inc"

}  // namespace avx512
#pragma GCC pop_options

#endif

}  // namespace

RangeSizes range_sizes(int acc_bytes) {
  const long cache =
      std::clamp(static_cast<long>(cache_sizes().private_bytes), 256l << 10, 4l << 20);
  const auto columns_within = [](long bytes, long each) {
    Index columns = 4096;
    while (2l * columns * each <= bytes) columns *= 2;
    return columns;
  };
  // A good half of the cache, the rest is for the rows of B that pass through.
  return {columns_within(cache * 5 / 8, acc_bytes + 1), columns_within(cache * 5 / 8, 1)};
}

template <class Acc>
std::uint64_t RowScratch<Acc>::bytes_for(const RangeSizes& ranges, Offset most_hashed,
                                         Offset most_sources, Offset most_met, Offset most_shifted,
                                         Offset most_dropped) {
  const auto of = [](Offset count, std::size_t each) {
    return static_cast<std::uint64_t>(count) * each;
  };
  Offset slots = 32;
  while (slots < 2 * most_hashed) slots *= 2;
  std::uint64_t bytes =
      of(ranges.sums + 128, sizeof(Acc)) + of(ranges.flags + ranges.flags / 64 + 256, 1) +
      of(most_sources, sizeof(Offset)) + of(most_met, sizeof(Index) + sizeof(std::uint8_t)) +
      of(most_met > 0 ? ranges.sums + 128 : 0, sizeof(Index)) + of(most_shifted, sizeof(Index)) +
      of(most_dropped, sizeof(Index) + sizeof(Acc));
  if (most_hashed > 0) {
    bytes += of(slots, sizeof(Index) + sizeof(Acc)) + of(slots, sizeof(std::uint64_t));
  }
  return bytes;
}

RowCount row_count(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return &avx512::count_rows<ProductPattern<ImplicitOne>>;
  if (isa == Isa::avx2) return &avx2::count_rows<ProductPattern<ImplicitOne>>;
#endif
  (void)isa;
  return &portable::count_rows<ProductPattern<ImplicitOne>>;
}

template <class B, class Acc>
RowProducts<B, Acc> row_products(Isa isa, Semiring semiring) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return avx512::loops_for<B, Acc>(semiring);
  if (isa == Isa::avx2) return avx2::loops_for<B, Acc>(semiring);
#endif
  (void)isa;
  return portable::loops_for<B, Acc>(semiring);
}

template struct RowScratch<float>;
template struct RowScratch<double>;
template RowProducts<float, float> row_products(Isa, Semiring);
template RowProducts<f16, float> row_products(Isa, Semiring);
template RowProducts<bf16, float> row_products(Isa, Semiring);
template RowProducts<ImplicitOne, float> row_products(Isa, Semiring);
template RowProducts<double, double> row_products(Isa, Semiring);
template RowProducts<ImplicitOne, double> row_products(Isa, Semiring);

}  // namespace csrkit::cpu
