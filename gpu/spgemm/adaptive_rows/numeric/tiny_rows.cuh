// Rows of C of at most 16 products, by the threads of a warp: each sorts the products of its row in
// registers.
#pragma once

#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/primitives/lane_networks.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sort.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu {

inline constexpr int kTinySourcesAtOnce = 4;

/// A row of A, and how many products it has.
struct TinyRow {
  Index row = 0;
  int products = 0;  // 0: there is no row for this thread
};

/// Finds where the row's products stand in B and, if kHasValues, A's value of each: product i at
/// [32 * i].
template <bool kHasValues, class Value>
__device__ void find_products(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                              const TinyRow& of, std::uint32_t* places, Value* values) {
  const std::uint32_t* const b_offsets = b.row_offsets.narrow;
  const auto b_base = static_cast<std::uint32_t>(b.base);
  int number = 0;
  for (Offset at = of.products > 0 ? a.row_begin(of.row) : 0; number < of.products;
       at += kTinySourcesAtOnce) {
    const Offset left = a.row_end(of.row) - at;
    std::uint32_t first[kTinySourcesAtOnce], last[kTinySourcesAtOnce];
    [[maybe_unused]] Value x[kTinySourcesAtOnce];
#pragma unroll
    for (int u = 0; u < kTinySourcesAtOnce; ++u) {
      first[u] = last[u] = 0;
      if (u < left) {
        const Index source = __ldg(a.col_indices + at + u);
        first[u] = __ldg(b_offsets + source) - b_base;
        last[u] = __ldg(b_offsets + source + 1) - b_base;
        if constexpr (kHasValues) x[u] = value_of(a, at + u);
      }
    }
#pragma unroll
    for (int u = 0; u < kTinySourcesAtOnce; ++u) {
#pragma unroll 1
      for (; first[u] < last[u]; ++first[u], ++number) {
        places[32 * number] = first[u];
        if constexpr (kHasValues) values[32 * number] = x[u];
      }
    }
  }
}

/// The shared memory of a warp: its rows' products, by number, then by lane; later the entries of
/// its rows of C, row after row.
template <class Value, int kItems>
struct TinySpace {
  Value values[kItems * 32];
  union {
    std::uint32_t places[kItems * 32];  // of products, in B
    Index cols[kItems * 32];            // of entries
  };
  std::uint8_t lanes[kItems * 32];  // of each entry: the lane that made it
  Offset shifts[32];                // of each lane: from its entries' places here to those in C
};

/// What a warp has made of its rows: the entries of this thread's, how many there are in the rows
/// of lower lanes, and in all.
struct TinyEntries {
  std::uint32_t of_row, before, total;
};

/// Makes the rows of a warp, one of at most kItems products for each thread, and leaves their
/// entries in `space`. By all lanes. `semiring`: op.semiring, or a constant that is the same.
template <int kItems, class Value, class Space>
__device__ TinyEntries make_tiny_entries(const MakeRows<Value>& op, Semiring semiring,
                                         const TinyRow& of, Space& space) {
  constexpr int kNumberBits = bits_of(kItems);
  const int lane = static_cast<int>(threadIdx.x & 31);
  find_products<true>(op.a, op.b, of, space.places + lane, space.values + lane);
  std::uint32_t keys[kItems];
  Value terms[kItems];
  std::uint32_t places[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    places[i] = i < of.products ? space.places[32 * i + lane] : 0;
  }
  // All loads are in flight before the first is used.
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    keys[i] = ~0u;
    if (i < of.products) keys[i] = static_cast<std::uint32_t>(__ldg(op.b.col_indices + places[i]));
  }
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    terms[i] = Value{};
    if (i < of.products) terms[i] = value_of(op.b, places[i]);
  }
  const auto first_col = static_cast<std::uint32_t>(op.profile.first_word[of.row] << kWordLog2);
  const Value nothing = empty_sum<Value>(semiring);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i < of.products) {
      keys[i] = (keys[i] - first_col) << kNumberBits | static_cast<std::uint32_t>(i);
      Value& value = space.values[32 * i + lane];
      value = add_product(semiring, nothing, value, terms[i]);
    }
  }
  sort_in_thread(keys);

  unsigned lasts = 0;  // a bit for every product that is the last of its column
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i < of.products) {
      terms[i] = space.values[32 * (keys[i] & ((1u << kNumberBits) - 1)) + lane];
      if (i > 0 && keys[i] >> kNumberBits == keys[i - 1] >> kNumberBits) {
        terms[i] = add_sums(semiring, terms[i - 1], terms[i]);
        lasts &= ~(1u << (i - 1));
      }
      lasts |= 1u << i;
    }
  }
  TinyEntries made = {static_cast<std::uint32_t>(__popc(lasts)), 0, 0};
  made.before = Group<32>::exclusive_sum<std::uint32_t>(made.of_row, made.total, nullptr);
  std::uint32_t place = made.before;
  __syncwarp();  // all lanes are done with the products
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if ((lasts >> i & 1) != 0) {
      space.values[place] = op.alpha * terms[i];
      space.cols[place] = static_cast<Index>((keys[i] >> kNumberBits) + first_col);
      space.lanes[place] = static_cast<std::uint8_t>(lane);
      ++place;
    }
  }
  return made;
}

/// Writes the entries of a warp's rows to C. space.shifts must be set, by each lane: the place of
/// its row in C minus TinyEntries::before.
template <class Value, class Space>
__device__ void write_tiny_entries(const MakeRows<Value>& op, Structure structure,
                                   const Space& space, std::uint32_t entries) {
  __syncwarp();
  for (std::uint32_t entry = threadIdx.x & 31; entry < entries; entry += 32) {
    const Offset at = space.shifts[space.lanes[entry]] + entry;
    if (structure == Structure::wanted) op.c.col_indices[at] = space.cols[entry];
    op.c.values[at] = space.values[entry];
  }
}

}  // namespace csrkit::gpu
