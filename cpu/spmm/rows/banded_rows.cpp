// The loops of body/banded_rows.inc for every kind and instruction set. Not beside those of
// row_kernels.inc: the compiler would make other code of them.
#include "cpu/spmm/rows/banded_rows.h"

#include "cpu/spmm/rows/row_loops.inc"

namespace csrkit::cpu {

namespace {

static_assert(kMostChained == kVectorsInChains);
static_assert(portable::Vector<float>::kMaxVectors <= kMostBandedVectors);
#if defined(__x86_64__)
static_assert(avx512::Vector<float>::kMaxVectors <= kMostBandedVectors);
static_assert(sizeof(avx512::Vector<float>::Vec) <= kVectorBytes);
#endif

template <class Kinds, auto kRows>
void run_banded(const Operands<Kinds>& x, const BandsWanted& wanted, typename Kinds::Acc* waiting) {
  const bool c_is_narrow = !std::is_same_v<typename Kinds::C, typename Kinds::Acc>;
  kRows({x.a, x.b, x.b_leading_dim, x.c, x.c_leading_dim, c_is_narrow, x.dense_cols, x.alpha,
         x.beta, x.reads_c, x.a.nnz(), false, 0, wanted.how.streams_c, false, true, nullptr},
        wanted.rows, wanted.col, wanted.cols, waiting);
}

}  // namespace

template <class Kinds>
BandedLoop<Kinds> banded_loop(Isa isa) {
  using RowJob = Job<typename Kinds::A, typename Kinds::B, typename Kinds::Acc>;
#if defined(__x86_64__)
  if (isa == Isa::avx512) return &run_banded<Kinds, &avx512::banded_rows<RowJob>>;
  if (isa == Isa::avx2) return &run_banded<Kinds, &avx2::banded_rows<RowJob>>;
#endif
  (void)isa;
  return &run_banded<Kinds, &portable::banded_rows<RowJob>>;
}

template BandedLoop<SpmmKinds<float, float, float, float>> banded_loop(Isa);
template BandedLoop<SpmmKinds<ImplicitOne, float, float, float>> banded_loop(Isa);
template BandedLoop<SpmmKinds<double, double, double, double>> banded_loop(Isa);
template BandedLoop<SpmmKinds<ImplicitOne, double, double, double>> banded_loop(Isa);

}  // namespace csrkit::cpu
