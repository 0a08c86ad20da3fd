// A window in shared memory, and wrappers of the PTX instructions on it.
#pragma once

#include "gpu/spmm/dense_windows/halves/windows.h"
#include "gpu/spmm/dense_windows/pipeline.cuh"

namespace csrkit::gpu {

/// The f16 halves of a number of B or A.
template <class Types>
inline constexpr int kHalves = sizeof(typename Types::Value) == 2 ? 1 : 2;

/// A window in shared memory: A as dense matrices of f16, and B's part as split_part wrote it. The
/// higher halves come first.
template <int kTileCols, int kNumbers>
struct alignas(128) WindowStage {
  alignas(128) std::byte a[kNumbers][kTileRows * kWindowCols * 2];
  alignas(128) std::byte b[kNumbers][kTileCols * kWindowCols * 2];
  float b_scales[kTileCols];
};

template <int kTileCols, int kNumbers>
struct WindowsInShared {
  WindowStage<kTileCols, kNumbers> stages[kStages];
  std::uint64_t full[kStages];
  int has_misfits;
  unsigned misfit_count;
};

namespace detail {

/// Copies a part of B to shared memory. By all bringing threads. The barrier expects kCopyArrivals
/// arrivals of the copies, beside those of barrier_arrive.
#if __CUDA_ARCH__ >= 900
inline constexpr unsigned kCopyArrivals = 1;  // one bulk copy, with its bytes
template <int kBytes>
__device__ void copy_part(void* to, const std::byte* from, std::uint64_t* barrier, int thread) {
  if (thread != 0) return;
  asm volatile(
      "{\n.reg .b64 state;\nmbarrier.arrive.expect_tx.shared.b64 state, [%0], %1;\n}\n" ::"r"(
          shared_address(barrier)),
      "r"(kBytes)
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(kBytes), "r"(shared_address(barrier))
      : "memory");
}
#else
inline constexpr unsigned kCopyArrivals = kBringers;  // one for each thread's own copies
template <int kBytes>
__device__ void copy_part(void* to, const std::byte* from, std::uint64_t* barrier, int thread) {
#pragma unroll
  for (int at = 0; at < kBytes; at += kBringers * 16) {
    const int mine = at + thread * 16;
    if (mine >= kBytes) break;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     shared_address(static_cast<std::byte*>(to) + mine)),
                 "l"(from + mine)
                 : "memory");
  }
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
#endif

__device__ inline void load_fragments(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}
__device__ inline void load_transposed_fragments(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}
/// sums += x y: 16 x 16 times 16 x 8, f16 in, f32 out.
__device__ inline void multiply_fragments(float (&sums)[4], const unsigned (&x)[4],
                                          const unsigned* y) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
}  // namespace detail

}  // namespace csrkit::gpu
