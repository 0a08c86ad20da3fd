#include "cpu/spmm/chunk_loops.h"

#include <cstring>
#include <type_traits>

#include "cpu/common/vectors/intrinsics.h"

// Each instruction set compiles the same loops in a namespace of its own, so that no function meant
// for one machine can be linked into the path of another.

namespace csrkit::cpu {

namespace {

namespace portable {

#include "cpu/common/vectors/short_portable.inc"
// The body uses ShortVector.
#include "cpu/spmm/chunk_loops_body.inc"

}  // namespace portable

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
namespace avx2 {

#include "cpu/common/vectors/short_x86.inc"
// The body uses ShortVector.
#include "cpu/spmm/chunk_loops_body.inc"

}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")
namespace avx512 {

#define CSRKIT_SHORT_MASKS
#include "cpu/common/vectors/short_x86.inc"
#undef CSRKIT_SHORT_MASKS
// The body uses ShortVector.
#include "cpu/spmm/chunk_loops_body.inc"

}  // namespace avx512
#pragma GCC pop_options

#endif  // __x86_64__

}  // namespace

template <class A, class Acc>
ChunkLoop<A, Acc> chunk_loop(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return &avx512::chunks<A, Acc>;
  if (isa == Isa::avx2) return &avx2::chunks<A, Acc>;
#endif
  (void)isa;
  return &portable::chunks<A, Acc>;
}

template ChunkLoop<float, float> chunk_loop(Isa);
template ChunkLoop<double, double> chunk_loop(Isa);
template ChunkLoop<ImplicitOne, float> chunk_loop(Isa);
template ChunkLoop<ImplicitOne, double> chunk_loop(Isa);

}  // namespace csrkit::cpu
