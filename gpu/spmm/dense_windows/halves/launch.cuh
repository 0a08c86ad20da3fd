// dense_windows in f32 and 16 bits: windows of A as dense matrices, multiplied by tensor cores to
// the accuracy of sums in f32.
// Owns     a block: the same number of windows of 128 rows x 64 columns of A, one tile of C after
//          another; a multiplying warp: 16 to 32 rows x 32 to 64 columns of a tile of 128 x 32, 64
//          or 128; the bringing warps: all loads of a window. Sums of tiles that several blocks
//          share go to the workspace; a last kernel adds them up in the blocks' order
// Reads    A's entries from lists by window, coalesced, as two f16 halves each (16 bits: one),
//          which go into a cleared dense matrix in shared memory. B's halves by asynchronous copies
//          from the workspace, where a first kernel wrote them in the layout of shared memory.
//          Three windows in flight, up to 199 KB of shared memory a block
// Launch   384 threads, 1 block per multiprocessor, 168 registers; eight warps multiply, four load.
//          The three kernels overlap: the next one starts while one ends
// Needs    columns unique in every row, as everywhere. Numbers that are not finite, or do not fit a
//          common scale (windows.h), are left to FMAs: single rows of A, found by the analysis and
//          made by the first kernel, or columns of C where B has such numbers, found by the first
//          kernel and made by the last (all, if many). plus and times; why_no_dense_windows names
//          the matrices and devices that are refused
// Against  row_bins: no gathering; tensor cores do 512 products of a window in the time of about 30
//          gathered ones. Still bad: the work is that of a dense matrix, whatever A is, and four
//          warps each load the same fragments of B from shared memory
// Akin to  TC-GNN (Wang et al., "TC-GNN: bridging sparse GNN computation and dense tensor cores on
//          GPUs", USENIX ATC'23): entries of A put into dense tiles for tensor cores. There the
//          columns of a row window are condensed first and numbers are TF32; here windows lie where
//          they lie in A, and numbers have the accuracy of f32

#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/device/launch_early.cuh"
#include "gpu/spmm/dense_windows/halves/bring.cuh"
#include "gpu/spmm/dense_windows/halves/multiply.cuh"
#include "gpu/spmm/dense_windows/halves/prepare.cuh"

namespace csrkit::gpu {

/// What is left to FMAs, by the multiplying threads of every block; block 0 notes it for add_parts.
/// Misfits are rare, but where numbers are random some product will meet one: a few columns are
/// made by FMAs, and many together with all others. Every block notes which columns are misfits,
/// all the same, so that none waits for another before it writes C.
template <int kTileCols, class Types, class Shared>
__device__ LeftToFmas find_misfits(const WindowOperands<Types>& op, Shared& shared) {
  constexpr Offset kFew = 16;  // of so many columns one
  const WindowWorkspace<float>& workspace = op.workspace;
  const Offset parts = op.shape.windows * op.shape.col_tiles;
  for (Offset i = threadIdx.x; i < parts; i += kMultipliers) {
    if (workspace.misfits[i] != 0) atomicOr(&shared.has_misfits, 1);
  }
  detail::named_barrier<1, kMultipliers>();
  auto left = LeftToFmas::nothing;
  if (shared.has_misfits != 0) {
    for (Offset column = threadIdx.x; column < op.c.cols; column += kMultipliers) {
      const bool is_misfit = is_misfit_in_parts<kTileCols>(op, column);
      workspace.column_misfits[column] = is_misfit ? 1 : 0;
      if (!is_misfit) continue;
      const unsigned at = atomicAdd(&shared.misfit_count, 1u);
      if (blockIdx.x == 0) workspace.misfit_list[at] = static_cast<Index>(column);
    }
    detail::named_barrier<1, kMultipliers>();
    left =
        shared.misfit_count * kFew > op.c.cols ? LeftToFmas::everything : LeftToFmas::some_columns;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *workspace.left_to_fmas = left;
    *workspace.misfit_count = shared.misfit_count;
  }
  return left;
}

template <class Types, int kTileCols>
__global__ void __launch_bounds__(kWindowThreads, 1)
    multiply_windows(const WindowOperands<Types> op) {
  extern __shared__ __align__(128) std::byte shared_bytes[];
  auto& shared = *reinterpret_cast<WindowsInShared<kTileCols, kHalves<Types>>*>(shared_bytes);
  const bool is_bringer = threadIdx.x >= kMultipliers;
  const Offset unit = op.shape.first_unit(blockIdx.x);
  const Offset end = op.shape.first_unit(Offset{blockIdx.x} + 1);
  WindowBringer<Types, kTileCols> bringer(op, shared, unit, end);
  if (is_bringer) bringer.begin();
  if (threadIdx.x == 0) {
    shared.has_misfits = 0;
    shared.misfit_count = 0;
    for (std::uint64_t& full : shared.full) {
      detail::barrier_init(&full, kBringers + detail::kCopyArrivals);
    }
  }
  wait_for_kernel_before();
  let_next_kernel_begin();
  __syncthreads();
  if (is_bringer) {
    bringer.bring();
  } else {  // meanwhile the first window is being loaded
    const LeftToFmas left = find_misfits<kTileCols>(op, shared);
    WindowMultiplier<Types, kTileCols>(op, shared).multiply(unit, end, left);
  }
}

template <class Types, int kTileCols>
void launch_tiles(const WindowOperands<Types>& operands, cudaStream_t stream) {
  prepare_windows<Types, kTileCols>(operands, stream);
  using Layout = TileLayout<kTileCols>;
  constexpr auto kSharedBytes =
      static_cast<int>(sizeof(WindowsInShared<kTileCols, kHalves<Types>>));
  CHECK_CUDA(cudaFuncSetAttribute(multiply_windows<Types, kTileCols>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  const auto blocks = static_cast<unsigned>(operands.shape.blocks);
  launch_early(multiply_windows<Types, kTileCols>, blocks, kWindowThreads, kSharedBytes, stream,
               operands);
  CHECK_LAUNCH("multiply_windows", stream);
  launch_early(add_parts<Types, kTileCols>, dim3(blocks, Layout::kHigh * Layout::kWide),
               kMultipliers, 0, stream, operands);
  CHECK_LAUNCH("add_parts", stream);
}

template <class Types>
void multiply_by_windows(const WindowOperands<Types>& operands, cudaStream_t stream) {
  if (operands.shape.tile_cols == 32) return launch_tiles<Types, 32>(operands, stream);
  if (operands.shape.tile_cols == 64) return launch_tiles<Types, 64>(operands, stream);
  launch_tiles<Types, 128>(operands, stream);
}

}  // namespace csrkit::gpu
