// Rows of B that begin anywhere, read by vectors all the same.
//
// A vector's address must be a multiple of its size, and rows of 127 columns begin at all multiples
// of four bytes. So a group of lanes reads the aligned vectors that cover its columns: then item i
// of a lane is column kWidth * lane + i - shift, where shift says how far behind a multiple the row
// begins. Rows of one sum have unlike shifts. Every lane keeps kWidth sums for each shift, and
// brings them together when a row of C is complete: kWidth - 1 shuffles for a whole row of A
// instead of as many for each nonzero.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

/// Where rows begin, in elements beyond a multiple of the vector; and the rows whose first or last
/// vector holds what is not B's, and may not be read.
struct ShiftedRows {
  unsigned first_shift;  // of row 0
  unsigned step;         // from a row to the next
  Index first_edge, last_edge;
  Index idle_row;  // read where there is no entry

  template <class Value>
  static ShiftedRows of(const DeviceDenseView<const Value>& b, int width) {
    const auto at = reinterpret_cast<std::uintptr_t>(b.data) / sizeof(Value);
    const auto first = static_cast<unsigned>(at % static_cast<std::uintptr_t>(width));
    return {first, static_cast<unsigned>(b.leading_dim % width), first == 0 ? -1 : 0, b.rows - 1,
            b.rows > 2 ? 1 : 0};
  }
  __device__ bool is_edge(Index row) const { return row == first_edge || row == last_edge; }
  template <int kWidth>
  __device__ unsigned shift_of(Index row) const {
    return (first_shift + static_cast<unsigned>(row) * step) % kWidth;
  }
};

/// The shifts of some entries, one a lane; the same for all lanes of a group.
template <int kWidth>
struct Shifts {
  static_assert(kWidth == 2 || kWidth == 4);
  unsigned low = 0, high = 0;  // bit u: of entry u
  unsigned edges = 0;          // of all groups of the warp

  /// `mine`: the row of this lane's entry. Of the entries from the group's lane `from` on.
  template <int kLanes>
  __device__ static Shifts of(const ShiftedRows& rows, Index mine, int from) {
    const unsigned shift = rows.shift_of<kWidth>(mine);
    const unsigned first = threadIdx.x % kWarpLanes / kLanes * kLanes + static_cast<unsigned>(from);
    Shifts shifts;
    shifts.low = __ballot_sync(kAllLanes, (shift & 1u) != 0) >> first;
    if constexpr (kWidth == 4) shifts.high = __ballot_sync(kAllLanes, (shift & 2u) != 0) >> first;
    shifts.edges = __ballot_sync(kAllLanes, rows.is_edge(mine));
    return shifts;
  }
  __device__ bool is_odd(int entry) const { return (low >> entry & 1u) != 0; }
  __device__ bool is_upper(int entry) const { return (high >> entry & 1u) != 0; }
};

/// What a lane reads of a row: its vector, and in the first lanes of a group an element for the
/// last lane, which has no neighbour to get its last columns from.
template <class Value, int kWidth>
struct ShiftedVector {
  Pack<Value, kWidth> vector;
  Value tail;
};

/// Adds x times y to the sums of one of four shifts, without a branch: groups of a warp have unlike
/// shifts, and would take turns. A product by 0 would not do, as 0 times infinity is NaN.
__device__ inline void add_to_one_of(float (&sums)[4][4], float x, const float (&y)[4], bool is_odd,
                                     bool is_upper) {
#pragma unroll
  for (int shift = 0; shift < 4; ++shift) {
    const int is_mine = is_odd == (shift % 2 == 1) && is_upper == (shift / 2 == 1) ? 1 : 0;
    asm("{ .reg .pred mine;\n"
        "setp.ne.s32 mine, %9, 0;\n"
        "@mine fma.rn.f32 %0, %4, %5, %0;\n"
        "@mine fma.rn.f32 %1, %4, %6, %1;\n"
        "@mine fma.rn.f32 %2, %4, %7, %2;\n"
        "@mine fma.rn.f32 %3, %4, %8, %3; }"
        : "+f"(sums[shift][0]), "+f"(sums[shift][1]), "+f"(sums[shift][2]), "+f"(sums[shift][3])
        : "f"(x), "f"(y[0]), "f"(y[1]), "f"(y[2]), "f"(y[3]), "r"(is_mine));
  }
}

/// Running sums, for each shift. kLanes: of a group.
template <class Types, int kWidth, int kLanes>
struct ShiftedSums {
  using Number = typename Types::Accumulate;
  Number item[kWidth][kWidth];
  Number tail;
  static_assert(Types::kIsPlusTimes);

  __device__ void clear() {
#pragma unroll
    for (int shift = 0; shift < kWidth; ++shift) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) item[shift][i] = 0;
    }
    tail = 0;
  }

  __device__ void add_product(Number x, const ShiftedVector<typename Types::Value, kWidth>& y,
                              bool is_odd, bool is_upper) {
    Number wide[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) wide[i] = widen<Number>(y.vector.item[i]);
    tail = fma(x, widen<Number>(y.tail), tail);
    if constexpr (kWidth == 4 && kLanes < kWarpLanes) {
      add_to_one_of(item, x, wide, is_odd, is_upper);
    } else {
      const auto add = [&](Number(&sums)[kWidth]) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) sums[i] = fma(x, wide[i], sums[i]);
      };
      if constexpr (kWidth == 4) {
        if (is_upper) return is_odd ? add(item[3]) : add(item[2]);
      }
      if (is_odd) return add(item[1]);
      add(item[0]);
    }
  }

  /// Item i of lane l is then column kWidth * l + i. Called by all lanes of the warp. What belongs
  /// to no column of the group ends up in no other one.
  __device__ Sums<Types, kWidth> at_columns(int lane) const {
    Sums<Types, kWidth> sums;
    Number shifted[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) shifted[i] = item[kWidth - 1][i];
#pragma unroll
    for (int shift = kWidth - 2; shift >= 0; --shift) {
      const Number of_next = __shfl_down_sync(kAllLanes, shifted[0], 1, kLanes);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        shifted[i] = item[shift][i] + (i + 1 < kWidth ? shifted[(i + 1) % kWidth] : of_next);
      }
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sums.item[i] = shifted[i];
#pragma unroll
    for (int i = 1; i < kWidth; ++i) {
      const Number last = __shfl_sync(kAllLanes, tail, i - 1, kLanes);
      if (lane == kLanes - 1) sums.item[i] = last;
    }
    return sums;
  }
};

}  // namespace csrkit::gpu
