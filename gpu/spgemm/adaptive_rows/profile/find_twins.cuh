// Finds twins: rows of A with the same columns.
#pragma once

#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/adaptive_rows/profile/profile.h"

namespace csrkit::gpu {

/// Scrambles a column, so that sums of scrambled columns distinguish sets of columns.
inline __device__ std::uint32_t scrambled(Index col) {
  std::uint32_t x = static_cast<std::uint32_t>(col) * 0x9E3779B1u;
  x = (x ^ x >> 15) * 0x85EBCA6Bu;
  return x ^ x >> 13;
}

/// Whether the row becomes a twin of one that was met before, for the kLanes lanes that share the
/// row. `mix` is the sum of its scrambled columns. By all lanes of the warp.
template <int kLanes>
inline __device__ bool joins_twins(const DeviceCsrView<void>& a, const RowProfile& profile,
                                   bool has_row, Index row, std::uint32_t mix) {
  const unsigned lane = threadIdx.x & (kLanes - 1);
  std::uint32_t* const place = profile.met + ((mix * 0x9E3779B1u) >> (32 - profile.log2_met));
  std::uint32_t met = 0;
  if (has_row && lane == 0) {
    met = *static_cast<volatile std::uint32_t*>(place);
    if (met == 0) met = atomicCAS(place, 0u, static_cast<std::uint32_t>(row) + 1);
  }
  met = __shfl_sync(kAllLanes, met, 0, kLanes);
  const bool has_other = has_row && met != 0;
  const Index other = has_other ? static_cast<Index>(met - 1) : row;
  const Offset begin = a.row_begin(row), length = a.row_end(row) - begin;
  const Offset other_begin = a.row_begin(other);
  bool is_same = has_other && a.row_end(other) - other_begin == length;
  for (Offset i = lane; is_same && i < length; i += kLanes) {
    is_same = __ldg(a.col_indices + begin + i) == __ldg(a.col_indices + other_begin + i);
  }
  __syncwarp();
  const unsigned differ = __ballot_sync(kAllLanes, !is_same) >> (threadIdx.x & 31 & ~(kLanes - 1));
  if (!has_other || lane != 0) return false;
  if ((differ & (kAllLanes >> (32 - kLanes))) == 0) {
    const std::uint32_t number = atomicAdd(profile.twins + other, 1u);
    if (number < kMostTwins - 1) {
      profile.counted[row] = other;
      profile.twin_rows[Offset{other} * (kMostTwins - 1) + number] = row;
      return true;
    }
  }
  *static_cast<volatile std::uint32_t*>(place) = static_cast<std::uint32_t>(row) + 1;
  return false;
}

}  // namespace csrkit::gpu
