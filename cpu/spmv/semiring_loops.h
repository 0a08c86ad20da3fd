// Sums of rows in any semiring: plain loops, for csr_balanced.
#pragma once

#include "core/contract/semiring.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu::spmv {

/// As the functions of InnerLoops, with what an empty sum is and how sums are added.
template <class A, class Acc>
struct SemiringLoops {
  void (*rows)(const CsrView<A>& a, const Acc* x, Index first, Index last, Acc* sums);
  Acc (*stretch)(const CsrView<A>& a, const Acc* x, Offset begin, Offset end);
  Acc (*add)(Acc sum, Acc more);
};

template <Semiring kSemiring, class A, class Acc>
Acc semiring_stretch(const CsrView<A>& a, const Acc* x, Offset begin, Offset end) {
  using Arithmetic = SemiringArithmetic<kSemiring, Acc>;
  Acc sum = Arithmetic::empty_sum();
  for (Offset at = begin; at < end; ++at) {
    const Acc value = a.template value_as<Acc>(at);
    sum = Arithmetic::add_product(sum, value, x[a.col_indices[at]]);
  }
  return sum;
}

template <Semiring kSemiring, class A, class Acc>
void semiring_rows(const CsrView<A>& a, const Acc* x, Index first, Index last, Acc* sums) {
  for (Index i = first; i < last; ++i) {
    sums[i - first] = semiring_stretch<kSemiring>(a, x, a.row_offsets[i], a.row_offsets[i + 1]);
  }
}

template <class A, class Acc>
SemiringLoops<A, Acc> semiring_loops(Semiring semiring) {
  const auto loops = [](auto constant) -> SemiringLoops<A, Acc> {
    constexpr Semiring kSemiring = decltype(constant)::value;
    return {&semiring_rows<kSemiring, A, Acc>, &semiring_stretch<kSemiring, A, Acc>,
            &SemiringArithmetic<kSemiring, Acc>::add};
  };
  switch (semiring) {
    case Semiring::min_plus: return loops(std::integral_constant<Semiring, Semiring::min_plus>{});
    case Semiring::max_times: return loops(std::integral_constant<Semiring, Semiring::max_times>{});
    case Semiring::or_and: return loops(std::integral_constant<Semiring, Semiring::or_and>{});
    case Semiring::plus_times: break;
  }
  return loops(std::integral_constant<Semiring, Semiring::plus_times>{});
}

}  // namespace csrkit::cpu::spmv
