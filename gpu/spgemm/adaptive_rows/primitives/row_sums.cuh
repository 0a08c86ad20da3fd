// Adds up the products that a walk brings, in an order that depends only on A and B, without
// atomics on values.
#pragma once

#include "gpu/device/arithmetic.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_walks.cuh"

namespace csrkit::gpu {

/// The semiring's empty sum, a sum plus a product, the sum of two sums. A branch at run time, as
/// the semiring is the same for a whole launch: the branch hides behind memory latency and saves
/// three quarters of the kernels.
template <class Value>
__device__ Value empty_sum(Semiring semiring) {
  switch (semiring) {
    case Semiring::min_plus: return SemiringArithmetic<Semiring::min_plus, Value>::empty_sum();
    case Semiring::max_times: return SemiringArithmetic<Semiring::max_times, Value>::empty_sum();
    default: return Value{0};
  }
}
template <class Value>
__device__ Value add_product(Semiring semiring, Value sum, Value x, Value y) {
  if (semiring == Semiring::plus_times) {
    return SemiringArithmetic<Semiring::plus_times, Value>::add_product(sum, x, y);
  }
  if (semiring == Semiring::min_plus) {
    return SemiringArithmetic<Semiring::min_plus, Value>::add_product(sum, x, y);
  }
  if (semiring == Semiring::max_times) {
    return SemiringArithmetic<Semiring::max_times, Value>::add_product(sum, x, y);
  }
  return SemiringArithmetic<Semiring::or_and, Value>::add_product(sum, x, y);
}
template <class Value>
__device__ Value add_sums(Semiring semiring, Value sum, Value other) {
  if (semiring == Semiring::plus_times) return sum + other;
  if (semiring == Semiring::min_plus)
    return SemiringArithmetic<Semiring::min_plus, Value>::add(sum, other);
  if (semiring == Semiring::max_times)
    return SemiringArithmetic<Semiring::max_times, Value>::add(sum, other);
  return SemiringArithmetic<Semiring::or_and, Value>::add(sum, other);
}

/// Adds up a warp's products by place, in the order of lanes. The first lane of each place gets the
/// sum and is told so. By all lanes.
template <class Value>
__device__ bool sum_up_in_warp(Semiring semiring, std::uint32_t place, bool is_there, Value& term) {
  const unsigned lane = threadIdx.x & 31;
  const unsigned mates = __match_any_sync(kAllLanes, is_there ? place : 0x80000000u | lane);
  const bool is_first = (mates & ((1u << lane) - 1)) == 0;
  unsigned others = is_first ? mates & ~(1u << lane) : 0;
  Value sum = term;
  while (__any_sync(kAllLanes, others != 0)) {
    const int from = others != 0 ? __ffs(static_cast<int>(others)) - 1 : static_cast<int>(lane);
    const Value other = __shfl_sync(kAllLanes, term, from);
    if (others != 0) sum = add_sums(semiring, sum, other);
    others &= others - 1;
  }
  term = sum;
  return is_there && is_first;
}

/// Turns of a warp: none needed, as places are unique after sums within the warp.
struct WarpTurns {
  template <class Add>
  __device__ void run(const std::uint32_t (&)[kSegments], const bool (&is_there)[kSegments],
                      const Add& add) {
#pragma unroll
    for (int u = 0; u < kSegments; ++u) {
      if (is_there[u]) add(u);
      __syncwarp();
    }
  }
};

/// Orders the warps' sums for one place in a packed walk of a block. In every round each sum bids
/// for its place, and the first in order wins and is added. Several places share a bid where there
/// are more places than bids, which costs a round. After kRoundsOfBids rounds (a place that most
/// sources have) the warps take turns instead, each with all its remaining sums. That is another
/// order, but the same in every run.
template <int kLanes, int kBids>
class BlockTurns {
  static_assert(kLanes * kSegments <= 2048, "a bid has 11 bits for the number of a sum");
  static constexpr std::uint32_t kMostRounds = (1u << 21) - 1;
  static constexpr int kRoundsOfBids = 8;

 public:
  /// `bids` are in shared memory and must be zero.
  explicit __device__ BlockTurns(std::uint32_t* bids) : bids_(bids) {}

  template <class Add>
  __device__ void run(const std::uint32_t (&places)[kSegments], const bool (&is_there)[kSegments],
                      const Add& add) {
    unsigned waiting = 0;
#pragma unroll
    for (int u = 0; u < kSegments; ++u) waiting |= is_there[u] ? 1u << u : 0u;
    for (int rounds = 0; rounds < kRoundsOfBids; ++rounds) {
      if (++round_ > kMostRounds) {
        for (int i = static_cast<int>(threadIdx.x); i < kBids; i += kLanes) bids_[i] = 0;
        __syncthreads();
        round_ = 1;
      }
      if (waiting != 0) {
#pragma unroll
        for (int u = 0; u < kSegments; ++u) {
          if ((waiting >> u & 1) != 0) atomicMax(bids_ + (places[u] & (kBids - 1)), bid(u));
        }
      }
      __syncthreads();
      if (waiting != 0) {
#pragma unroll
        for (int u = 0; u < kSegments; ++u) {
          if ((waiting >> u & 1) != 0 && bids_[places[u] & (kBids - 1)] == bid(u)) {
            add(u);
            waiting &= ~(1u << u);
          }
        }
      }
      if (__syncthreads_or(static_cast<int>(waiting)) == 0) return;
    }
    for (int warp = 0; warp < kLanes / 32; ++warp) {
      if (static_cast<int>(threadIdx.x) / 32 == warp) {
#pragma unroll
        for (int u = 0; u < kSegments; ++u) {
          if ((waiting >> u & 1) != 0) add(u);
          __syncwarp();
        }
      }
      __syncthreads();
    }
  }

 private:
  __device__ std::uint32_t bid(int u) const {
    return round_ << 11 | (2047u - static_cast<std::uint32_t>(u * kLanes) - threadIdx.x);
  }

  std::uint32_t* bids_;
  std::uint32_t round_ = 0;
};

/// Adds kSegments products to the sums at `places`, in a fixed order.
template <int kLanes, class Value, class Turns>
__device__ void add_products(const Product<Value> (&entries)[kSegments],
                             const std::uint32_t (&places)[kSegments], Value* sums,
                             Semiring semiring, BySource, Turns&) {
#pragma unroll
  for (int u = 0; u < kSegments; ++u) {
    if (entries[u].col >= 0) {
      Value& sum = sums[places[u]];
      sum = add_product(semiring, sum, entries[u].x, entries[u].y);
    }
    Group<kLanes>::sync();
  }
}
template <int kLanes, class Value, class Turns>
__device__ void add_products(const Product<Value> (&entries)[kSegments],
                             const std::uint32_t (&places)[kSegments], Value* sums,
                             Semiring semiring, Packed, Turns& turns) {
  const Value nothing = empty_sum<Value>(semiring);
  Value terms[kSegments];
  bool is_first[kSegments];
#pragma unroll
  for (int u = 0; u < kSegments; ++u) {
    terms[u] = add_product(semiring, nothing, entries[u].x, entries[u].y);
    is_first[u] = sum_up_in_warp(semiring, places[u], entries[u].col >= 0, terms[u]);
  }
  turns.run(places, is_first, [&](int u) {
    Value& sum = sums[places[u]];
    sum = add_sums(semiring, sum, terms[u]);
  });
}

/// The kind of turns of a group of kLanes. `bids`: a block's, in shared memory; null if none.
template <int kLanes>
struct Turns {
  static constexpr int kBids = kLanes <= 32 ? 1 : kLanes <= 128 ? 2048 : 4096;
  static_assert(kLanes <= 128 || kBids * sizeof(std::uint32_t) == kBidBytes);
  using Type = std::conditional_t<kLanes <= 32, WarpTurns, BlockTurns<kLanes, kBids>>;
  static __device__ Type make([[maybe_unused]] std::uint32_t* bids) {
    if constexpr (kLanes <= 32) {
      return {};
    } else {
      for (int i = static_cast<int>(threadIdx.x); bids != nullptr && i < kBids; i += kLanes) {
        bids[i] = 0;
      }
      return Type(bids);  // the caller has a barrier before the first use
    }
  }
};

}  // namespace csrkit::gpu
