// Chooses the kernels of row_bins by the alignment of rows of B and C.
#pragma once

#include "gpu/spmm/row_bins/launch.cuh"

namespace csrkit::gpu {

/// `prefers_narrow_slices`: as RowBinsKernels has it.
template <class Types>
void launch_by_access(const RowBinsOperands<Types>& operands, Index whole_cols,
                      bool prefers_narrow_slices, cudaStream_t stream) {
  constexpr int kValueBytes = static_cast<int>(sizeof(typename Types::Value));
  constexpr int kFullWidth = 16 / kValueBytes;
  int widest = widest_access_of_whole(operands.b, operands.c, whole_cols);
  if constexpr (Types::kIsPlusTimes) {
    if (widest < unaligned_width(kValueBytes) && whole_cols >= kFewestUnaligned) {
      const bool in_pairs = widest_access(operands.b, operands.c) > 1;
      return UnalignedBinsKernels<Types>::launch(operands, whole_cols, in_pairs, stream);
    }
  }
  // If eight lanes of half the width hold all columns, full-width lanes would be idle.
  if (widest == kFullWidth && whole_cols <= 4 * kFullWidth) widest /= 2;
  with_width<Types>(widest, [&](auto width) {
    RowBinsKernels<Types, decltype(width)::value>::launch(operands, whole_cols,
                                                          prefers_narrow_slices, stream);
  });
}

}  // namespace csrkit::gpu
