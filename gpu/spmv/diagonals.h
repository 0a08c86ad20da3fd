// The diagonals of a matrix that have an entry, for formats that store whole diagonals.
#pragma once

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Diagonal d holds the entries with col - row = d - (rows - 1), so that 0 <= d < rows + cols - 1.
struct Diagonals {
  Index count = 0;              // that have an entry
  DeviceBuffer<Offset> ranks;   // for every d, and the end: how many before it have an entry
  DeviceBuffer<Index> offsets;  // col - row of those with an entry, ascending

#ifdef __CUDACC__
  struct View {
    Index rows;
    const Offset* ranks;
    __device__ Offset rank_of(Index row, Index col) const {
      return ranks[Offset{col} - row + rows - 1];
    }
  };
  View view(Index rows) const { return {rows, ranks.data()}; }
#endif
};

/// Waits. Where there are more than `most` diagonals, `offsets` stays empty and `count` may be any
/// number above it.
Diagonals find_diagonals(const DeviceCsrView<void>& a, Offset most, DeviceMemory& memory);

}  // namespace csrkit::gpu
