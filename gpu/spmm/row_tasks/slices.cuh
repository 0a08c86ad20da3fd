// Slices of the columns of B and C, in the outer dimension of the grid, so that each slice of B in
// turn stays in L2, if it fits.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "gpu/device/grid.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

/// Calls launch(operands, grid) with as many slices of `slice_cols` columns as a grid takes, and
/// `blocks` blocks for each, until all columns are done. `operands` then begin at the first of
/// those slices.
template <class Operands, class Launch>
void for_slices(const Operands& all, Offset slice_cols, Offset blocks, Launch&& launch) {
  const Offset slices = (Offset{all.c.cols} + slice_cols - 1) / slice_cols;
  for (Offset first = 0; first < slices; first += kMaxGridY) {
    Operands operands = all;
    operands.b.data += first * slice_cols;
    operands.c.data += first * slice_cols;
    operands.c.cols = static_cast<Index>(all.c.cols - first * slice_cols);
    const Offset now = std::min(slices - first, kMaxGridY);
    launch(operands, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(now)));
  }
}

}  // namespace csrkit::gpu
