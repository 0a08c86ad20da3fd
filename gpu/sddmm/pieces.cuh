// The kernels of row_groups: a group of lanes computes a piece of neighbouring entries, four at a
// time.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/sddmm/entry.cuh"
#include "gpu/sddmm/slice.cuh"

namespace csrkit::gpu::sddmm {

inline constexpr int kThreads = 256;
/// Turns of a piece, at most; a turn is kAtOnce (four) entries.
inline constexpr int kMaxTurns = 8;

/// Four entries of a group, and their inner products.
template <class T>
struct Turn {
  int4 cols, rows;
  SumOf<T> sums[kAtOnce];
};

/// A group's piece in shared memory. The ninth turn is padding: with it the groups of a warp use
/// different banks (f64 with four groups: two share).
template <class T>
using Piece = Turn<T>[kMaxTurns + 1];

/// Loads columns and rows of a group's entries, all at once. Past the end of A the last entry is
/// loaded instead.
template <class T, int kLanes>
__device__ void load_piece(Piece<T>& piece, const DeviceCsrView<void>& a,
                           const Index* rows_of_entries, Offset begin, int entries, int lane) {
  constexpr int kOfLane = kMaxTurns * kAtOnce / kLanes;
  Index cols[kOfLane], rows[kOfLane];
#pragma unroll
  for (int n = 0; n < kOfLane; ++n) {
    const Offset entry = min(begin + lane + n * kLanes, a.nnz - 1);
    if (lane + n * kLanes < entries) {
      cols[n] = __ldg(a.col_indices + entry);
      rows[n] = __ldg(rows_of_entries + entry);
    }
  }
#pragma unroll
  for (int n = 0; n < kOfLane; ++n) {
    const int i = lane + n * kLanes;
    if (i < entries) {
      reinterpret_cast<Index*>(&piece[i / kAtOnce].cols)[i % kAtOnce] = cols[n];
      reinterpret_cast<Index*>(&piece[i / kAtOnce].rows)[i % kAtOnce] = rows[n];
    }
  }
  __syncwarp();
}

/// Adds the products of some columns to the sums of all turns.
template <int kLanes, class T, class Products>
__device__ void add_turns(Piece<T>& piece, int turns, int lane, bool is_first, Products& products) {
  constexpr int kShare = kLanes / kAtOnce;  // lanes that get the same sum
#pragma unroll 1
  for (Turn<T>* turn = piece; turn != piece + turns; ++turn) {
    SumOf<T> sum[kAtOnce] = {};
    products.add(sum, turn->cols, turn->rows);
    const SumOf<T> own = add_lanes<kLanes>(sum, lane);
    if (lane % kShare == 0) {
      SumOf<T>& all = turn->sums[lane / kShare];
      all = is_first ? own : all + own;
    }
  }
}

/// Pieces of turns * kAtOnce entries. Group i takes piece order[i], or piece i without an order.
struct Pieces {
  int turns;
  Index count;
  const Index* order;

  /// The first entry of a group's piece; nnz where there is no piece.
  __device__ Offset begin(Offset group, Offset nnz) const {
    if (group >= count) return nnz;
    return (order == nullptr ? group : order[group]) * turns * kAtOnce;
  }
};

/// Columns and rows of four entries, loaded one turn ahead.
struct Four {
  int4 cols, rows;

  /// Past the end of A the last entry is loaded instead; its results are not stored.
  __device__ void load(const Index* all_rows, const Index* all_cols, bool is_aligned, Offset at,
                       Offset nnz) {
    if (is_aligned && at + kAtOnce <= nnz) {
      rows = __ldg(reinterpret_cast<const int4*>(all_rows + at));
      cols = __ldg(reinterpret_cast<const int4*>(all_cols + at));
    } else {
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        const Offset entry = min(at + n, nnz - 1);
        reinterpret_cast<Index*>(&rows)[n] = __ldg(all_rows + entry);
        reinterpret_cast<Index*>(&cols)[n] = __ldg(all_cols + entry);
      }
    }
  }
};

/// For rows of X and Y that are one load a lane. Columns and rows of entries stay in registers:
/// there is too little work to hide shared memory.
template <class T, int kLanes, int kWidth, bool kIsFull>
__global__ void __launch_bounds__(kThreads, 4)
    dots_of_narrow_rows(DeviceCsrView<void> a, Rows<T> x, Rows<T> y, Index cols, const Index* rows,
                        int turns, bool is_aligned, Ends ends) {
  constexpr int kShare = kLanes / kAtOnce;  // lanes that get the same sum
  const Offset group = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  Offset at = group * turns * kAtOnce;
  Four next;
  next.load(rows, a.col_indices, is_aligned, at, a.nnz);
  Slice<T, std::uint32_t, kLanes, kWidth, 1, kIsFull, false> slice(x, y, lane * kWidth, cols);
  SumOf<T> own = 0;
  for (int turn = 0; turn < turns; ++turn, at += kAtOnce) {
    SumOf<T> sum[kAtOnce] = {};
    const Four here = next;
    next.load(rows, a.col_indices, is_aligned, at + kAtOnce, a.nnz);
    slice.add(sum, here.cols, here.rows);
    const SumOf<T> made = add_lanes<kLanes>(sum, lane);
    const int part = turn % kShare;
    if (lane % kShare == part) own = made;
    if (part == kShare - 1) {  // `turns` is a multiple of it
      const Offset entry = at + (lane % kShare - part) * kAtOnce + lane / kShare;
      if (entry < a.nnz) store_entry(ends, entry, own);
    }
  }
}

/// kWidth elements a load. A row is one slice of kSteps loads a lane; with kSlices, any number of
/// whole slices and a rest. kMixes: most entries have another row than their neighbours; registers
/// for all their loads are worth losing a third of the warps.
template <class T, class Bytes, int kLanes, int kWidth, int kSteps, bool kIsFull, bool kSlices,
          bool kMixes>
__global__ void __launch_bounds__(kThreads, kMixes                                ? 2
                                            : kWidth * sizeof(T) <= 4 && !kSlices ? 4
                                                                                  : 3)
    dots_of_pieces(DeviceCsrView<void> a, Rows<T, Bytes> x, Rows<T, Bytes> y, Index cols,
                   const Index* rows, Pieces pieces, Ends ends) {
  constexpr int kGroups = kThreads / kLanes;
  __shared__ Piece<T> of_block[kGroups];
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Offset begin = pieces.begin(Offset{blockIdx.x} * kGroups + group, a.nnz);
  if (__all_sync(kAllLanes, begin >= a.nnz)) return;
  const int entries = pieces.turns * kAtOnce;
  Piece<T>& piece = of_block[group];
  load_piece<T, kLanes>(piece, a, rows, begin, entries, lane);
  const Index col = lane * kWidth;
  if constexpr (kSlices) {
    constexpr Index kSlice = kLanes * kWidth * kSteps;
    Index first = 0;
    for (; cols - first >= kSlice; first += kSlice) {
      Slice<T, Bytes, kLanes, kWidth, kSteps, true, kMixes> slice(x, y, first + col, cols);
      add_turns<kLanes, T>(piece, pieces.turns, lane, first == 0, slice);
    }
    if (first < cols) {
      const Rest<T, Bytes, kLanes, kWidth> rest{x, y, first + col, cols};
      add_turns<kLanes, T>(piece, pieces.turns, lane, first == 0, rest);
    }
  } else {
    Slice<T, Bytes, kLanes, kWidth, kSteps, kIsFull, kMixes> slice(x, y, col, cols);
    add_turns<kLanes, T>(piece, pieces.turns, lane, true, slice);
  }
  __syncwarp();
  for (int i = lane; i < entries; i += kLanes) {
    if (begin + i < a.nnz) store_entry(ends, begin + i, piece[i / kAtOnce].sums[i % kAtOnce]);
  }
}

}  // namespace csrkit::gpu::sddmm
