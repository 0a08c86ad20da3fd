#include "cpu/spmm/row_kernels.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__x86_64__)
// The deliberately undefined registers of GCC's own AVX-512 header set this warning off.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

// Each instruction set compiles the same loops in a namespace of its own, so that no function meant
// for one machine can be linked into the path of another. Everything included above was compiled
// for the oldest x86-64 and is inlined where it is used.

namespace csrkit::cpu {

namespace {

/// Operands of the inner loops. C's kind is looked at once per vector of C, not compiled in: that
/// saves a third of the code.
template <class AValue, class BValue, class AccValue>
struct Job {
  using A = AValue;
  using B = BValue;
  using Acc = AccValue;

  CsrView<A> a;
  const B* b;
  Offset b_leading_dim;
  void* c;
  Offset c_leading_dim;
  bool c_is_narrow;  // C has B's kind, not Acc's
  Index dense_cols;
  Acc alpha;
  Acc beta;
  bool reads_c;
  Offset entries;  // of the whole matrix: how far col_indices may be read
  bool prefetches;
  Offset prefetch_bytes;
  bool streams_c;
};

constexpr Offset kFewestAhead = 2;
constexpr Offset kMostAhead = 32;
constexpr Offset kCacheLineBytes = 64;
/// Rows shorter than this overlap with their neighbours in the machine's window anyhow.
constexpr Offset kWorthChains = 12;
/// Wider blocks have enough independent sums of their own.
constexpr int kMostChained = 4;

/// c = alpha * sum + beta * c for the first columns of a vector, or for a narrow C.
template <class Job>
[[gnu::noinline]] void store_lanes(const Job& x, Index i, Index j, const typename Job::Acc* sum,
                                   int count) {
  using Acc = typename Job::Acc;
  const Offset position = Offset{i} * x.c_leading_dim + j;
  const auto store = [&](auto* c) {
    using C = std::remove_pointer_t<decltype(c)>;
    for (int lane = 0; lane < count; ++lane) {
      Acc value = x.alpha * sum[lane];
      if (x.reads_c) value += x.beta * load_as<Acc>(c[lane]);
      c[lane] = narrow_to(TypeTag<C>{}, value);
    }
  };
  if (x.c_is_narrow) {
    store(static_cast<typename Job::B*>(x.c) + position);
  } else {
    store(static_cast<Acc*>(x.c) + position);
  }
}

// ---------------------------------------------------------------- semirings

/// The sum's neutral element, one more term, and the sum of two sums. A NaN, once in, stays. No
/// branches (| and &, not || and &&): loops over them become vectors.
template <Semiring kSemiring, class Acc>
struct Algebra {
  static Acc empty_sum() {
    if constexpr (kSemiring == Semiring::min_plus) return std::numeric_limits<Acc>::infinity();
    if constexpr (kSemiring == Semiring::max_times) return -std::numeric_limits<Acc>::infinity();
    return 0;
  }
  static Acc term(Acc a, Acc b) {
    if constexpr (kSemiring == Semiring::min_plus) return a + b;
    if constexpr (kSemiring == Semiring::or_and) return (a != 0) & (b != 0) ? 1 : 0;
    return a * b;
  }
  static Acc sum(Acc x, Acc y) {
    if constexpr (kSemiring == Semiring::min_plus) return (x <= y) | (x != x) ? x : y;
    if constexpr (kSemiring == Semiring::max_times) return (x >= y) | (x != x) ? x : y;
    if constexpr (kSemiring == Semiring::or_and) return (x != 0) | (y != 0) ? 1 : 0;
    return x + y;
  }
};

// ---------------------------------------------------------------- any machine: 16-byte vectors
namespace portable {

template <class Acc>
struct Lanes {
  static constexpr int kWidth = 16 / sizeof(Acc);
  static constexpr int kMaxVectors = 8;
  static constexpr bool kMasksAreFree = false;
  static constexpr bool kStreams = false;
  typedef Acc Vec __attribute__((vector_size(16)));

  static Vec zero() { return Vec{}; }
  static Vec broadcast(Acc value) { return Vec{} + value; }
  template <class T>
  static Vec load(const T* from) {
    Vec vec;
    if constexpr (std::is_same_v<T, Acc>) {
      std::memcpy(&vec, from, sizeof vec);
    } else {
      for (int lane = 0; lane < kWidth; ++lane) vec[lane] = load_as<Acc>(from[lane]);
    }
    return vec;
  }
  template <class T>
  static Vec load_partial(const T* from, int count) {
    Vec vec{};
    for (int lane = 0; lane < count; ++lane) vec[lane] = load_as<Acc>(from[lane]);
    return vec;
  }
  static void store(Acc* to, Vec vec) { std::memcpy(to, &vec, sizeof vec); }
  static void store_partial(Acc* to, Vec vec, int count) {
    for (int lane = 0; lane < count; ++lane) to[lane] = vec[lane];
  }
  static void stream(Acc* to, Vec vec) { store(to, vec); }
  static void finish_streams() {}
  static Vec add(Vec a, Vec b) { return a + b; }
  static Vec multiply(Vec a, Vec b) { return a * b; }
  static Vec multiply_add(Vec a, Vec b, Vec c) { return a * b + c; }
};

#include "cpu/spmm/row_kernels_body.inc"

}  // namespace portable

#if defined(__x86_64__)

// ---------------------------------------------------------------- AVX2, FMA, F16C: 32 bytes
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
namespace avx2 {

template <class Acc>
struct Lanes;

template <>
struct Lanes<float> {
  static constexpr int kWidth = 8;
  static constexpr int kMaxVectors = 8;
  static constexpr bool kMasksAreFree = false;
  static constexpr bool kStreams = true;
  using Vec = __m256;

  static Vec zero() { return _mm256_setzero_ps(); }
  static Vec broadcast(float value) { return _mm256_set1_ps(value); }
  static Vec load(const float* from) { return _mm256_loadu_ps(from); }
  static Vec load(const f16* from) { return widen(f16{}, load_words(from)); }
  static Vec load(const bf16* from) { return widen(bf16{}, load_words(from)); }
  static Vec load_partial(const float* from, int count) {
    return _mm256_maskload_ps(from, mask(count));
  }
  template <class Half>
  static Vec load_partial(const Half* from, int count) {
    alignas(16) Half lanes[kWidth] = {};
    for (int lane = 0; lane < count; ++lane) lanes[lane] = from[lane];
    return widen(Half{}, load_words(lanes));
  }
  static void store(float* to, Vec vec) { _mm256_storeu_ps(to, vec); }
  static void store_partial(float* to, Vec vec, int count) {
    _mm256_maskstore_ps(to, mask(count), vec);
  }
  static void stream(float* to, Vec vec) { _mm256_stream_ps(to, vec); }
  static void finish_streams() { _mm_sfence(); }
  static Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
  static Vec multiply(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
  static Vec multiply_add(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }

 private:
  static __m128i load_words(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  static Vec widen(f16, __m128i words) { return _mm256_cvtph_ps(words); }
  static Vec widen(bf16, __m128i words) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words), 16));
  }
  static __m256i mask(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};

template <>
struct Lanes<double> {
  static constexpr int kWidth = 4;
  static constexpr int kMaxVectors = 8;
  static constexpr bool kMasksAreFree = false;
  static constexpr bool kStreams = true;
  using Vec = __m256d;

  static Vec zero() { return _mm256_setzero_pd(); }
  static Vec broadcast(double value) { return _mm256_set1_pd(value); }
  static Vec load(const double* from) { return _mm256_loadu_pd(from); }
  static Vec load_partial(const double* from, int count) {
    return _mm256_maskload_pd(from, mask(count));
  }
  static void store(double* to, Vec vec) { _mm256_storeu_pd(to, vec); }
  static void store_partial(double* to, Vec vec, int count) {
    _mm256_maskstore_pd(to, mask(count), vec);
  }
  static void stream(double* to, Vec vec) { _mm256_stream_pd(to, vec); }
  static void finish_streams() { _mm_sfence(); }
  static Vec add(Vec a, Vec b) { return _mm256_add_pd(a, b); }
  static Vec multiply(Vec a, Vec b) { return _mm256_mul_pd(a, b); }
  static Vec multiply_add(Vec a, Vec b, Vec c) { return _mm256_fmadd_pd(a, b, c); }

 private:
  static __m256i mask(int count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
};

#include "cpu/spmm/row_kernels_body.inc"

}  // namespace avx2
#pragma GCC pop_options

// ---------------------------------------------------------------- AVX-512: 64 bytes, masks
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")
namespace avx512 {

template <class Acc>
struct Lanes;

template <>
struct Lanes<float> {
  static constexpr int kWidth = 16;
  static constexpr int kMaxVectors = 16;
  static constexpr bool kMasksAreFree = true;
  static constexpr bool kStreams = true;
  using Vec = __m512;

  static Vec zero() { return _mm512_setzero_ps(); }
  static Vec broadcast(float value) { return _mm512_set1_ps(value); }
  static Vec load(const float* from) { return _mm512_loadu_ps(from); }
  static Vec load(const f16* from) { return widen(f16{}, _mm256_loadu_si256(words(from))); }
  static Vec load(const bf16* from) { return widen(bf16{}, _mm256_loadu_si256(words(from))); }
  static Vec load_partial(const float* from, int count) {
    return _mm512_maskz_loadu_ps(mask(count), from);
  }
  template <class Half>
  static Vec load_partial(const Half* from, int count) {
    return widen(Half{}, _mm256_maskz_loadu_epi16(mask(count), from));
  }
  static void store(float* to, Vec vec) { _mm512_storeu_ps(to, vec); }
  static void store_partial(float* to, Vec vec, int count) {
    _mm512_mask_storeu_ps(to, mask(count), vec);
  }
  static void stream(float* to, Vec vec) { _mm512_stream_ps(to, vec); }
  static void finish_streams() { _mm_sfence(); }
  static Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
  static Vec multiply(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
  static Vec multiply_add(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }

 private:
  static const __m256i* words(const void* from) { return static_cast<const __m256i*>(from); }
  static Vec widen(f16, __m256i words) { return _mm512_cvtph_ps(words); }
  static Vec widen(bf16, __m256i words) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(words), 16));
  }
  static __mmask16 mask(int count) { return static_cast<__mmask16>((1u << count) - 1); }
};

template <>
struct Lanes<double> {
  static constexpr int kWidth = 8;
  static constexpr int kMaxVectors = 16;
  static constexpr bool kMasksAreFree = true;
  static constexpr bool kStreams = true;
  using Vec = __m512d;

  static Vec zero() { return _mm512_setzero_pd(); }
  static Vec broadcast(double value) { return _mm512_set1_pd(value); }
  static Vec load(const double* from) { return _mm512_loadu_pd(from); }
  static Vec load_partial(const double* from, int count) {
    return _mm512_maskz_loadu_pd(mask(count), from);
  }
  static void store(double* to, Vec vec) { _mm512_storeu_pd(to, vec); }
  static void store_partial(double* to, Vec vec, int count) {
    _mm512_mask_storeu_pd(to, mask(count), vec);
  }
  static void stream(double* to, Vec vec) { _mm512_stream_pd(to, vec); }
  static void finish_streams() { _mm_sfence(); }
  static Vec add(Vec a, Vec b) { return _mm512_add_pd(a, b); }
  static Vec multiply(Vec a, Vec b) { return _mm512_mul_pd(a, b); }
  static Vec multiply_add(Vec a, Vec b, Vec c) { return _mm512_fmadd_pd(a, b, c); }

 private:
  static __mmask8 mask(int count) { return static_cast<__mmask8>((1u << count) - 1); }
};

#include "cpu/spmm/row_kernels_body.inc"

}  // namespace avx512
#pragma GCC pop_options

#endif  // __x86_64__

}  // namespace

const char* name_of(Isa isa) {
  switch (isa) {
    case Isa::portable: return "portable";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  return "?";
}

bool is_supported(Isa isa) {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("f16c");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (isa == Isa::avx512) return has_avx512;
  if (isa == Isa::avx2) return has_avx2;
#endif
  return isa == Isa::portable;
}

Isa chosen_isa() {
  const Isa widest_first[] = {Isa::avx512, Isa::avx2, Isa::portable};
  const char* wanted = std::getenv("CSRKIT_CPU_ISA");
  for (const Isa isa : widest_first) {
    if (wanted == nullptr || *wanted == '\0' ? is_supported(isa)
                                             : name_of(isa) == std::string(wanted)) {
      if (is_supported(isa)) return isa;
      throw UsageError(std::string("CSRKIT_CPU_ISA asks for ") + wanted +
                       ", which this machine does not have; unset it");
    }
  }
  throw UsageError(std::string("CSRKIT_CPU_ISA is '") + wanted +
                   "'; use portable, avx2 or avx512, or unset it");
}

namespace {

/// Turns an inner loop into the functions of the header.
template <class Kinds, auto kRows, auto kScatter, auto kGather>
struct VectorRows {
  using Acc = typename Kinds::Acc;
  using RowJob = Job<typename Kinds::A, typename Kinds::B, Acc>;

  static void rows(const Operands<Kinds>& x, const RowsWanted& wanted) {
    const bool c_is_narrow = !std::is_same_v<typename Kinds::C, Acc>;
    kRows(RowJob{x.a, x.b, x.b_leading_dim, x.c, x.c_leading_dim, c_is_narrow, x.dense_cols,
                 x.alpha, x.beta, x.reads_c, x.a.nnz(), wanted.how.prefetch_bytes > 0,
                 wanted.how.prefetch_bytes, wanted.how.streams_c},
          wanted.first, wanted.last, wanted.col, wanted.cols);
  }

  /// A matrix of one row, whose C is `sums`.
  static void stretch(const Operands<Kinds>& x, const StretchWanted& wanted, Acc* sums) {
    const Offset row_offsets[2] = {wanted.begin, wanted.end};
    RowJob job{x.a,
               x.b,
               x.b_leading_dim,
               sums,
               x.dense_cols,
               false,
               x.dense_cols,
               1,
               0,
               false,
               x.a.nnz(),
               wanted.how.prefetch_bytes > 0,
               wanted.how.prefetch_bytes,
               false};
    job.a.rows = 1;
    job.a.row_offsets = row_offsets;
    kRows(job, 0, 1, wanted.col, wanted.cols);
  }

  static void scatter(const Operands<Kinds>& x, const ScatterWanted& wanted, Acc* sums,
                      Offset sums_leading_dim) {
    kScatter(x.a, x.b_row(wanted.row) + wanted.col, wanted, sums, sums_leading_dim);
  }

  static void gather(const Operands<Kinds>& x, const StretchWanted& wanted, Acc* sums) {
    kGather(RowJob{x.a, x.b, x.b_leading_dim, sums, 0, false, x.dense_cols, 1, 0, false, x.a.nnz(),
                   wanted.how.prefetch_bytes > 0, wanted.how.prefetch_bytes, false},
            wanted, sums);
  }
};

template <class Kinds, auto kRows, auto kScatter, auto kGather>
RowKernels<Kinds> vector_kernels() {
  using Rows = VectorRows<Kinds, kRows, kScatter, kGather>;
  return {&Rows::rows,
          &Rows::stretch,
          &Rows::scatter,
          &Rows::gather,
          0,
          &portable::SemiringRows<Semiring::plus_times, Kinds>::combine};
}

}  // namespace

namespace {

template <template <Semiring, class> class Rows, Semiring kSemiring, class Kinds>
RowKernels<Kinds> semiring_kernels() {
  using Loops = Rows<kSemiring, Kinds>;
  return {&Loops::rows,
          &Loops::stretch,
          &Loops::scatter,
          nullptr,
          Algebra<kSemiring, typename Kinds::Acc>::empty_sum(),
          &Loops::combine};
}

/// The loops of one instruction set for semirings other than plus_times.
template <template <Semiring, class> class Rows, class Kinds>
RowKernels<Kinds> semiring_kernels(Semiring semiring) {
  if (semiring == Semiring::min_plus) return semiring_kernels<Rows, Semiring::min_plus, Kinds>();
  if (semiring == Semiring::max_times) return semiring_kernels<Rows, Semiring::max_times, Kinds>();
  return semiring_kernels<Rows, Semiring::or_and, Kinds>();
}

}  // namespace

template <class Kinds>
RowKernels<Kinds> row_kernels(Isa isa, Semiring semiring) {
  if constexpr (std::is_same_v<typename Kinds::B, typename Kinds::Acc>) {  // not for 16-bit kinds
    if (semiring != Semiring::plus_times) {
#if defined(__x86_64__)
      if (isa == Isa::avx512) return semiring_kernels<avx512::SemiringRows, Kinds>(semiring);
      if (isa == Isa::avx2) return semiring_kernels<avx2::SemiringRows, Kinds>(semiring);
#endif
      return semiring_kernels<portable::SemiringRows, Kinds>(semiring);
    }
  }
  using RowJob = Job<typename Kinds::A, typename Kinds::B, typename Kinds::Acc>;
#if defined(__x86_64__)
  if (isa == Isa::avx512)
    return vector_kernels<Kinds, &avx512::rows<RowJob>, &avx512::scatter<RowJob>,
                          &avx512::gather<RowJob>>();
  if (isa == Isa::avx2)
    return vector_kernels<Kinds, &avx2::rows<RowJob>, &avx2::scatter<RowJob>,
                          &avx2::gather<RowJob>>();
#endif
  (void)isa;
  return vector_kernels<Kinds, &portable::rows<RowJob>, &portable::scatter<RowJob>,
                        &portable::gather<RowJob>>();
}

// The table of legal kinds.
#define CSRKIT_INSTANTIATE(A, B, C, Acc) \
  template RowKernels<SpmmKinds<A, B, C, Acc>> row_kernels(Isa, Semiring)
CSRKIT_INSTANTIATE(float, float, float, float);
CSRKIT_INSTANTIATE(ImplicitOne, float, float, float);
CSRKIT_INSTANTIATE(double, double, double, double);
CSRKIT_INSTANTIATE(ImplicitOne, double, double, double);
CSRKIT_INSTANTIATE(f16, f16, float, float);
CSRKIT_INSTANTIATE(f16, f16, f16, float);
CSRKIT_INSTANTIATE(ImplicitOne, f16, float, float);
CSRKIT_INSTANTIATE(ImplicitOne, f16, f16, float);
CSRKIT_INSTANTIATE(bf16, bf16, float, float);
CSRKIT_INSTANTIATE(bf16, bf16, bf16, float);
CSRKIT_INSTANTIATE(ImplicitOne, bf16, float, float);
CSRKIT_INSTANTIATE(ImplicitOne, bf16, bf16, float);
#undef CSRKIT_INSTANTIATE

}  // namespace csrkit::cpu
