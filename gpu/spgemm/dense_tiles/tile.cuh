// A dense tile of B in shared memory: how rows of B are expanded into it, and how entries of A
// multiply its rows.
#pragma once

#include <cstdint>

#include "gpu/spgemm/dense_tiles/dense_tiles.h"

namespace csrkit::gpu::dense_tiles {

constexpr int kWarps = TileShape::kThreads / 32;
constexpr int kRowsOfWarp = TileShape::kRowsOfWarp;
constexpr int kRowBytes = TileShape::kRowBytes;

template <class Value>
inline constexpr int kTileCols = kRowBytes / static_cast<int>(sizeof(Value));
template <class Value>
inline constexpr int kOfLane = 16 / static_cast<int>(sizeof(Value));  // columns

template <class Value>
struct alignas(16) Lane {
  Value of[kOfLane<Value>];
};

/// 32 entries of a row of A, shared by all lanes.
template <class Value>
struct alignas(16) Entries {
  Value values[32];
  std::uint32_t offsets[32];  // of their rows in the tile, in bytes
};

template <class Value>
struct Batch {
  Index source;  // relative to the tile's first; large beyond the row's end
  Value value;
};

template <class Value>
__device__ Batch<Value> load_batch(const DeviceCsrView<Value>& a, Offset at, Offset end,
                                   Index first) {
  const Offset mine = at + (threadIdx.x & 31);
  if (mine >= end) return {INT32_MAX, Value{0}};
  return {__ldg(a.col_indices + mine) - first,
          a.values == nullptr ? Value{1} : __ldg(a.values + mine)};
}

/// Where a row's entries of a tile begin and end in its row of B.
template <class Value>
__device__ uint2 entries_of_tile(const SpreadColumns& spread, Offset row, Index tile) {
  const Offset quads = spread.bits.quads;
  if constexpr (kTileCols<Value> == kQuadCols) {
    const std::uint32_t* starts = spread.starts + row * (quads + 1) + tile;
    return make_uint2(__ldg(starts), __ldg(starts + 1));
  } else {
    static_assert(2 * kTileCols<Value> == kQuadCols);
    const Index quad = tile / 2;
    const std::uint32_t* starts = spread.starts + row * (quads + 1) + quad;
    const uint2 left =
        __ldg(reinterpret_cast<const uint2*>(spread.bits.quads_of_rows + row * quads + quad));
    const std::uint32_t begin = __ldg(starts);
    const std::uint32_t middle =
        begin + static_cast<std::uint32_t>(__popc(left.x) + __popc(left.y));
    return tile % 2 == 0 ? make_uint2(begin, middle) : make_uint2(middle, __ldg(starts + 1));
  }
}

/// Writes the entries of `rows` rows of B, from `first` on, that lie in the tile's columns. All
/// other places must be 0 already. Several rows at once, as each needs two dependent loads.
template <class Value>
__device__ void spread_tile(const DenseTiles<Value>& op, Index first, int rows, Index tile,
                            Value* places) {
  // one round takes rows that have an eighth of the columns
  constexpr int kLanes = kTileCols<Value> / 8;
  constexpr int kGroups = TileShape::kThreads / kLanes;
  constexpr int kAhead = 4;
  const int rank = static_cast<int>(threadIdx.x) % kLanes;
  const Index first_col = tile * kTileCols<Value>;
  for (int begin = static_cast<int>(threadIdx.x) / kLanes; begin < rows;
       begin += kGroups * kAhead) {
    Offset at[kAhead];
    int left[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const int row = begin + u * kGroups;
      left[u] = 0;
      at[u] = 0;
      if (row < rows) {
        const uint2 range = entries_of_tile<Value>(op.spread, Offset{first} + row, tile);
        at[u] = op.b.row_begin(first + row) + range.x + rank;
        left[u] = static_cast<int>(range.y - range.x) - rank;
      }
    }
    const auto bring = [&](int skip) {
      Index cols[kAhead];
      Value values[kAhead];
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        cols[u] = left[u] > skip ? __ldg(op.b.col_indices + at[u] + skip) : -1;
        values[u] =
            left[u] > skip && op.b.values != nullptr ? __ldg(op.b.values + at[u] + skip) : Value{1};
      }
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (cols[u] < 0) continue;
        places[(begin + u * kGroups) * kTileCols<Value> + (cols[u] - first_col)] = values[u];
      }
    };
    int most = 0;
#pragma unroll
    for (int u = 0; u < kAhead; ++u) most = max(most, left[u]);
    for (int skip = 0; skip < most; skip += kLanes) bring(skip);
  }
}

/// Adds `count` entries of A times their rows of the tile; `tile` is this lane's part of it. Four
/// at a time: beyond `count`, entries are 0 and select a row of zeros.
template <class Value>
__device__ void add_entries(const Entries<Value>& entries, int count, const std::byte* tile,
                            Lane<Value>& sums) {
  for (int begin = 0; begin < count; begin += 4) {
    const uint4 offsets = *reinterpret_cast<const uint4*>(entries.offsets + begin);
    const std::uint32_t from[4] = {offsets.x, offsets.y, offsets.z, offsets.w};
    Lane<Value> rows[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) rows[u] = *reinterpret_cast<const Lane<Value>*>(tile + from[u]);
    Value x[4];
#pragma unroll
    for (int u = 0; u < 4; u += kOfLane<Value>) {
      const auto some = *reinterpret_cast<const Lane<Value>*>(entries.values + begin + u);
#pragma unroll
      for (int i = 0; i < kOfLane<Value>; ++i) x[u + i] = some.of[i];
    }
#pragma unroll
    for (int u = 0; u < 4; ++u) {
#pragma unroll
      for (int i = 0; i < kOfLane<Value>; ++i) sums.of[i] = fma(x[u], rows[u].of[i], sums.of[i]);
    }
  }
}

/// The same, but only where B has an entry, as 0 times infinity is not 0.
template <class Value>
__device__ void add_stored_entries(const Entries<Value>& entries, int count, const std::byte* tile,
                                   const ColumnBits& of_b, Index first, Index col,
                                   Lane<Value>& sums) {
  for (int i = 0; i < count; ++i) {
    const std::uint32_t offset = entries.offsets[i];
    const Offset row = Offset{first} + offset / kRowBytes;
    const auto* words =
        reinterpret_cast<const std::uint32_t*>(of_b.quads_of_rows + row * of_b.quads);
    const std::uint32_t bits = __ldg(words + (col >> 5)) >> (col & 31);
    const auto row_of_b = *reinterpret_cast<const Lane<Value>*>(tile + offset);
#pragma unroll
    for (int j = 0; j < kOfLane<Value>; ++j) {
      if ((bits >> j & 1) != 0) sums.of[j] = fma(entries.values[i], row_of_b.of[j], sums.of[j]);
    }
  }
}

}  // namespace csrkit::gpu::dense_tiles
