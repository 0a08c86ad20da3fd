// How the parts of a cut row are added up.
#pragma once

#include "gpu/spmm/lane_sums.cuh"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu {

/// Partial sums bypass L1, which is not coherent between multiprocessors.
template <int kWidth, class Number>
__device__ Pack<Number, kWidth> load_shared_by_all(const Number* from) {
  constexpr int kPerWord = 16 / static_cast<int>(sizeof(Number));
  Pack<Number, kWidth> pack;
  if constexpr (kWidth >= kPerWord) {
#pragma unroll
    for (int at = 0; at < kWidth; at += kPerWord) {
      const uint4 word = __ldcg(reinterpret_cast<const uint4*>(from + at));
      memcpy(&pack.item[at], &word, sizeof word);
    }
  } else {
#pragma unroll
    for (int at = 0; at < kWidth; ++at) pack.item[at] = __ldcg(from + at);
  }
  return pack;
}
template <int kWidth, class Number>
__device__ void store_shared_by_all(Number* to, const Number (&items)[kWidth]) {
  constexpr int kPerWord = 16 / static_cast<int>(sizeof(Number));
  if constexpr (kWidth >= kPerWord) {
#pragma unroll
    for (int at = 0; at < kWidth; at += kPerWord) {
      uint4 word;
      memcpy(&word, &items[at], sizeof word);
      __stcg(reinterpret_cast<uint4*>(to + at), word);
    }
  } else {
#pragma unroll
    for (int at = 0; at < kWidth; ++at) __stcg(to + at, items[at]);
  }
}

/// Adds `count` consecutive slots in order, with kBatch loads in flight.
template <class Types, int kWidth>
__device__ void add_slots(Sums<Types, kWidth>& sums, const typename Types::Accumulate* from,
                          Offset stride, bool has_columns, Index count) {
  using Number = typename Types::Accumulate;
  constexpr int kBatch = 4;
  sums.clear(sums.algebra());
  if (!has_columns) return;
#pragma unroll 1
  for (Index slot = 0; slot < count; slot += kBatch) {
    Pack<Number, kWidth> parts[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (slot + u < count) parts[u] = load_shared_by_all<kWidth>(from + (slot + u) * stride);
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (slot + u < count) {
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          sums.item[k] = sums.algebra().add(sums.item[k], parts[u].item[k]);
        }
      }
    }
  }
}

/// The same for several rows whose slots are `row_stride` apart. Together, so that their loads
/// overlap; one row after another would wait for L2 once per row.
template <class Types, int kWidth, int kRows>
__device__ void add_slots_of_rows(Sums<Types, kWidth> (&sums)[kRows],
                                  const typename Types::Accumulate* from, Offset row_stride,
                                  Offset stride, bool has_columns, Index count) {
  using Number = typename Types::Accumulate;
  constexpr int kBatch = 8 / kRows;
#pragma unroll
  for (int r = 0; r < kRows; ++r) sums[r].clear(sums[r].algebra());
  if (!has_columns) return;
#pragma unroll 1
  for (Index slot = 0; slot < count; slot += kBatch) {
    Pack<Number, kWidth> parts[kBatch][kRows];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (slot + u >= count) continue;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        parts[u][r] =
            load_shared_by_all<kWidth>(from + (slot + u) * stride + Offset{r} * row_stride);
      }
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      if (slot + u >= count) continue;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          sums[r].item[k] = sums[r].algebra().add(sums[r].item[k], parts[u][r].item[k]);
        }
      }
    }
  }
}

/// Adds up the sums of a block's warps, which are in each warp's first lanes, in the order of
/// warps. By all threads; returns true in the first warp, which gets the totals.
template <class Types, int kWidth, int kWarps, int kLanesTimesWidth>
__device__ bool add_up_in_first_warp(
    Sums<Types, kWidth>& sums, typename Types::Accumulate (&of_warps)[kWarps][kLanesTimesWidth]) {
  constexpr int kLanes = kLanesTimesWidth / kWidth;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (warp > 0 && lane < kLanes) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) of_warps[warp - 1][i * kLanes + lane] = sums.item[i];
  }
  __syncthreads();
  if (warp > 0) return false;
#pragma unroll
  for (int other = 0; other < kWarps; ++other) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      sums.item[i] = sums.algebra().add(sums.item[i], of_warps[other][i * kLanes + lane % kLanes]);
    }
  }
  return true;
}

/// Returns whether this was the last of `expected` arrivals. The fences order every lane's earlier
/// stores before the arrival, and later loads after it.
template <int kLanes>
__device__ bool arrive(Index* counter, Index expected, unsigned mask, int lane) {
  __threadfence();
  __syncwarp(mask);
  Index arrived = 0;
  if (lane == 0) arrived = atomicAdd(counter, 1);
  arrived = __shfl_sync(mask, arrived, 0, kLanes);
  if (arrived + 1 != expected) return false;
  __threadfence();
  if (lane == 0) *counter = 0;  // as the next launch expects it
  return true;
}

/// Stores the sums of the part with `slot`. The part that comes last adds up all parts of its row
/// or panel: first those of each group of kPartsPerGroup, then the groups. leave(slot) stores sums,
/// add_up(first_slot, count) replaces them by totals. Returns whether the row is complete, and sets
/// `row` to it.
template <int kLanes, class Leave, class AddUp>
__device__ bool meet_parts(const RowTasks& tasks, Index slot, Offset slice, int lane, Leave leave,
                           AddUp add_up, Index& row) {
  const CutRow cut = tasks.cut_rows[tasks.cut_of_slot[slot]];
  const Index groups = (cut.parts + kPartsPerGroup - 1) / kPartsPerGroup;
  const Index my_group = (slot - cut.first_slot) / kPartsPerGroup;
  const Index in_group = min(kPartsPerGroup, cut.parts - my_group * kPartsPerGroup);
  Index* counters = tasks.counters + slice * tasks.counter_count + cut.first_counter;
  leave(slot);
  if (!arrive<kLanes>(counters + my_group, in_group, lanes_of_group<kLanes>(), lane)) return false;
  add_up(Offset{cut.first_slot} + my_group * kPartsPerGroup, in_group);
  if (groups > 1) {
    const Offset group_slot = Offset{cut.first_slot} + cut.parts;
    leave(group_slot + my_group);
    if (!arrive<kLanes>(counters + groups, groups, lanes_of_group<kLanes>(), lane)) return false;
    add_up(group_slot, groups);
  }
  row = cut.row;
  return true;
}

}  // namespace csrkit::gpu
