// The sums of one group of lanes in row_bins, and how the parts of a cut row meet.
#pragma once

#include "gpu/spmm/arithmetic.cuh"

namespace csrkit::gpu {

inline constexpr int kRowBinsLanes = 8;

/// What one lane adds up: kAccesses vectors of kWidth columns, kRowBinsLanes vectors apart.
template <class Types, int kWidth, int kAccesses>
struct Slice {
  Sums<Types, kWidth> part[kAccesses];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kAccesses; ++i) part[i].clear();
  }
};

/// Partial sums are written and read past L1, which other multiprocessors' stores do not reach.
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

/// Adds `count` consecutive slots in order; kBatch of them are asked for before the first is used.
template <class Types, int kWidth, int kAccesses>
__device__ void add_slots(Slice<Types, kWidth, kAccesses>& sums,
                          const typename Types::Accumulate* from, Offset stride,
                          const bool (&has_columns)[kAccesses], Index count) {
  using Number = typename Types::Accumulate;
  using Algebra = Ring<Types::kSemiring, Number>;
  constexpr int kBatch = 4 / kAccesses;
  sums.clear();
  for (Index slot = 0; slot < count; slot += kBatch) {
    Pack<Number, kWidth> parts[kBatch][kAccesses];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
#pragma unroll
      for (int i = 0; i < kAccesses; ++i) {
        if (slot + u < count && has_columns[i]) {
          parts[u][i] =
              load_shared_by_all<kWidth>(from + (slot + u) * stride + i * kRowBinsLanes * kWidth);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
#pragma unroll
      for (int i = 0; i < kAccesses; ++i) {
        if (slot + u < count && has_columns[i]) {
#pragma unroll
          for (int k = 0; k < kWidth; ++k) {
            sums.part[i].item[k] = Algebra::add(sums.part[i].item[k], parts[u][i].item[k]);
          }
        }
      }
    }
  }
}

/// Leaves the sum in `slot` and says whether this was the last of `expected` arrivals. The fences
/// order every lane's stores before the arrival, and the loads that follow after it.
template <class Types, int kWidth, int kAccesses>
__device__ bool arrive(const Slice<Types, kWidth, kAccesses>& sums,
                       typename Types::Accumulate* slot, const bool (&has_columns)[kAccesses],
                       Index* counter, Index expected, unsigned mask, int lane) {
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) {
    if (has_columns[i])
      store_shared_by_all<kWidth>(slot + i * kRowBinsLanes * kWidth, sums.part[i].item);
  }
  __threadfence();
  __syncwarp(mask);
  Index arrived = 0;
  if (lane == 0) arrived = atomicAdd(counter, 1);
  arrived = __shfl_sync(mask, arrived, 0, kRowBinsLanes);
  if (arrived + 1 != expected) return false;
  __threadfence();
  if (lane == 0) *counter = 0;  // as the next launch expects it
  return true;
}

}  // namespace csrkit::gpu
