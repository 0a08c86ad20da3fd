// For rows of B and C that are not aligned to 16 bytes: a group of lanes takes a row in pieces, and
// a lane has one element, or a pair of neighbours, of each piece.
#pragma once

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spmm/row_tasks/sums.cuh"

namespace csrkit::gpu {

/// The most columns of a lane. Rows aligned to vectors of so many elements need no pieces.
constexpr int unaligned_width(int value_bytes) { return value_bytes == 8 ? 2 : 4; }

/// Fewer columns are taken by single elements: eight lanes hold them all.
inline constexpr Index kFewestUnaligned = 9;

/// A lane's part of a piece of a row of B. In f64, for up to two pieces, it is loaded as one double
/// without evicting the line first: 0.8 to 1.0 times the time of two loads of four bytes (measured
/// on an H100, docs/lab/2026-11-26-spmm-last-cliffs.md).
template <int kEach, int kPieces, class Value>
__device__ inline Pack<Value, kEach> load_piece(const Value* from) {
  if constexpr (sizeof(Value) == 8 && kEach == 1 && kPieces <= 2) {
    Pack<Value, kEach> piece;
    asm("ld.global.nc.L2::128B.f64 %0, [%1];" : "=d"(piece.item[0]) : "l"(from));
    return piece;
  } else {
    return load_kept<kEach>(from);
  }
}

/// Slices of nearly equal size, because a slice of few columns costs as much as a full one. Counted
/// in a lane's parts of a piece.
struct PieceSlices {
  Index size = 0;
  Index wider = 0;  // the first `wider` slices have one more
  Index first = 0;  // the first slice of a launch
};

/// kWidth columns a lane, kEach of them in a piece, kLanes lanes. kOnlyLastMayMiss: every lane has
/// all pieces except perhaps the last, so only the last is checked.
template <class Types, int kWidth, int kEach, int kLanes, bool kOnlyLastMayMiss>
struct Pieces {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  static constexpr int kCount = kWidth / kEach, kApart = kLanes * kEach;
  struct Elements {
    Value item[kWidth];
  };

  Index column;  // this lane's first one; columns from there to the end of the slice:
  Index left;

  __device__ static Pieces of(const PieceSlices& slices, int lane) {
    const Index slice = slices.first + static_cast<Index>(blockIdx.y);
    const Index first = slice * slices.size + min(slice, slices.wider);
    const Index size = slices.size + (slice < slices.wider ? 1 : 0);
    return {(first + lane) * kEach, (size - lane) * kEach};
  }
  __device__ bool has(int piece) const {
    return (kOnlyLastMayMiss && piece < kCount - 1) || piece * kApart < left;
  }
  /// The column of item i of a lane, from its first column on.
  __device__ static constexpr int place_of(int i) { return i / kEach * kApart + i % kEach; }

  /// `from`: a column that may be read. Lanes without a column read it, and drop the result.
  __device__ Elements load(const Value* from) const {
    Elements y;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      Pack<Value, kEach> piece{};
      if (i == 0 || has(i)) piece = load_piece<kEach, kCount>(from + i * kApart);
      memcpy(&y.item[i * kEach], &piece, sizeof piece);
    }
    return y;
  }
  __device__ static void add_product(Sums<Types, kWidth>& sums, Number x, const Elements& y) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      sums.item[i] = sums.algebra().add_product(sums.item[i], x, widen<Number>(y.item[i]));
    }
  }
  /// Calls store(sums, first column) for each piece.
  template <class Store>
  __device__ void store(const Sums<Types, kWidth>& sums, typename Types::Output* c,
                        Store&& store) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (!has(i)) continue;
      Sums<Types, kEach> piece;
#pragma unroll
      for (int e = 0; e < kEach; ++e) piece.item[e] = sums.item[i * kEach + e];
      store(piece, c + i * kApart);
    }
  }

  /// Partial sums are stored in the order of columns.
  __device__ void leave(const Sums<Types, kWidth>& sums, Number* slot) const {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (place_of(i) < left) __stcg(slot + place_of(i), sums.item[i]);
    }
  }
  __device__ void collect(Sums<Types, kWidth>& sums, const Number* from, Offset stride,
                          Index count) const {
    constexpr int kBatch = 4;  // slots whose loads are in flight
    sums.clear(sums.algebra());
#pragma unroll 1
    for (Index slot = 0; slot < count; slot += kBatch) {
      Number parts[kBatch][kWidth] = {};
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          if (slot + u >= count || place_of(i) >= left) continue;
          parts[u][i] = __ldcg(from + (slot + u) * stride + place_of(i));
        }
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (slot + u >= count) continue;
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          sums.item[i] = sums.algebra().add(sums.item[i], parts[u][i]);
        }
      }
    }
  }
};

/// Launches as many slices of `cols` columns as lanes with kMost pieces of kEach columns need, by
/// launch(count, slices, grid_y, may_miss). `count`: pieces of a lane, as few as possible, because
/// lanes also load pieces that they do not need; at least two, or kMost. `may_miss`: also pieces
/// before the last one may miss.
template <int kMost, int kEach, int kLanes, class Launch>
void launch_in_pieces(Index cols, Launch&& launch) {
  const Index size = cols / kEach;
  const Index slices = (size + kMost * kLanes - 1) / (kMost * kLanes);
  const Index needed = (size + slices * kLanes - 1) / (slices * kLanes);
  PieceSlices those{size / slices, size % slices, 0};
  for (; those.first < slices; those.first += static_cast<Index>(kMaxGridY)) {
    const auto grid_y = static_cast<unsigned>(std::min<Offset>(slices - those.first, kMaxGridY));
    const auto with = [&](auto count) {
      launch(count, those, grid_y, needed < decltype(count)::value);
    };
    if constexpr (kMost > 3) {
      if (needed == 3) {
        with(std::integral_constant<int, 3>{});
        continue;
      }
    }
    if constexpr (kMost > 2) {
      if (needed <= 2) {
        with(std::integral_constant<int, 2>{});
        continue;
      }
    }
    with(std::integral_constant<int, kMost>{});
  }
}

}  // namespace csrkit::gpu
