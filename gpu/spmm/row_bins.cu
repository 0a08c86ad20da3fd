// row_bins: rows of like length side by side, long rows cut, the last part to arrive adds them up.
// Owns     8 lanes: one row of C, or a part of a cut row, kAccesses * 16 bytes of B per lane wide
//          (64 columns of f32); a warp: four rows of about the same length, so none waits for
//          another
// Reads    A once per slice, coalesced, passed on by shuffles, evicted first; B one or two aligned
//          vectors per lane and nonzero, eight of them asked for before the first is used; C
//          written once, evicted first. Parts of cut rows go through the workspace; no shared
//          memory
// Launch   128 threads, 7 blocks per multiprocessor, so at most 72 registers: as measured best.
//          Slices of the columns in the outer grid dimension, so that one slice of B after the other
//          stays in L2 if it fits there
// Needs    nothing: the width of the vectors follows from K, leading dimensions and addresses
// Against  nnz_split: no work at row ends, so half the registers and twice the lanes in flight; the
//          sum of a cut row is made by its last part (arrival counters; the order of the sum is
//          fixed, so the bits are always the same), which saves the second kernel. Still bad: A's
//          rows are visited out of order, which costs locality where the order of the rows had
//          some.

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/arithmetic.cuh"
#include "gpu/spmm/plan.h"
#include "gpu/spmm/row_bins_pieces.h"
#include "gpu/spmm/row_bins_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 128;
constexpr int kBlocksPerMultiprocessor = 7;
constexpr int kLanes = kRowBinsLanes;
constexpr int kTailBatch = 4;  // short rests: fewer loads that turn out to be nobody's

template <class Types>
struct Operands {
  DeviceCsrView<typename Types::Value> a;
  DeviceDenseView<const typename Types::Value> b;
  DeviceDenseView<typename Types::Output> c;
  typename Types::Accumulate alpha, beta;
  BinnedPieces pieces;
  typename Types::Accumulate* partial;  // slots x dense_cols
  unsigned row_bytes;                   // from one row of B to the next
  Offset first_slice;
};

/// kBatch nonzeros from `step` on: their rows of B are asked for together, then used in order.
template <class Types, int kWidth, int kAccesses, int kBatch, bool kIsFull>
__device__ void gather(Slice<Types, kWidth, kAccesses>& sums,
                       const std::byte* const (&b_columns)[kAccesses], unsigned row_bytes,
                       unsigned mask, Index my_col, typename Types::Accumulate my_value, int step,
                       int entries) {
  using Number = typename Types::Accumulate;
  using Value = typename Types::Value;
  Pack<Value, kWidth> y[kBatch][kAccesses];
#pragma unroll
  for (int u = 0; u < kBatch; ++u) {
    const auto col = static_cast<unsigned>(__shfl_sync(mask, my_col, step + u, kLanes));
    if (kIsFull || step + u < entries) {
#pragma unroll
      for (int i = 0; i < kAccesses; ++i) {
        y[u][i] = load_kept<kWidth>(
            reinterpret_cast<const Value*>(b_columns[i] + std::uint64_t{col} * row_bytes));
      }
    }
  }
#pragma unroll
  for (int u = 0; u < kBatch; ++u) {
    const Number x = __shfl_sync(mask, my_value, step + u, kLanes);
    if (kIsFull || step + u < entries) {
#pragma unroll
      for (int i = 0; i < kAccesses; ++i) sums.part[i].add_product(x, y[u][i]);
    }
  }
}

template <class Types, int kWidth, int kAccesses>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    multiply_bins(const Operands<Types> op) {
  using Number = typename Types::Accumulate;
  constexpr int kBatch = kLanes / kAccesses;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned mask = ((1u << kLanes) - 1) << (threadIdx.x % 32 / kLanes * kLanes);
  const Offset group = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  if (group >= op.pieces.piece_count) return;
  const Offset slice = op.first_slice + blockIdx.y;
  const Offset column = (slice * kAccesses * kLanes + lane) * kWidth;
  bool has_columns[kAccesses];
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) has_columns[i] = column + i * kLanes * kWidth < op.c.cols;

  const BinnedPiece piece = op.pieces.pieces[op.pieces.first_piece + group];
  const bool is_part = piece.length < 0;
  const Index length = is_part ? -1 - piece.length : piece.length;
  const Index* cols = op.a.col_indices + piece.begin;
  // Lanes beyond the last column read the first one, and drop what they make of it.
  const std::byte* b_columns[kAccesses];
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) {
    b_columns[i] = reinterpret_cast<const std::byte*>(
        op.b.data + (has_columns[i] ? column + i * kLanes * kWidth : 0));
  }

  Slice<Types, kWidth, kAccesses> sums;
  sums.clear();
  Index col = 0;
  Number value = 0;
  if (lane < length) {
    col = load_once(cols + lane);
    value = value_at<Types>(op.a, piece.begin + lane);
  }
  Index done = 0;
  for (; done + kLanes <= length; done += kLanes) {
    Index next_col = 0;
    Number next_value = 0;
    if (done + kLanes + lane < length) {
      next_col = load_once(cols + done + kLanes + lane);
      next_value = value_at<Types>(op.a, piece.begin + done + kLanes + lane);
    }
#pragma unroll
    for (int step = 0; step < kLanes; step += kBatch) {
      gather<Types, kWidth, kAccesses, kBatch, true>(sums, b_columns, op.row_bytes, mask, col,
                                                     value, step, kLanes);
    }
    col = next_col;
    value = next_value;
  }
  for (int step = 0; step < length - done; step += kTailBatch) {
    gather<Types, kWidth, kAccesses, kTailBatch, false>(sums, b_columns, op.row_bytes, mask, col,
                                                        value, step, length - done);
  }

  Index row = piece.row;
  if (is_part) {
    const BinnedPieces& pieces = op.pieces;
    const Index slot = piece.row;
    const BinnedCutRow cut = pieces.cut_rows[pieces.cut_of_slot[slot]];
    const Index groups = (cut.parts + kPartsPerGroup - 1) / kPartsPerGroup;
    const Index my_group = (slot - cut.first_slot) / kPartsPerGroup;
    const Index in_group = min(kPartsPerGroup, cut.parts - my_group * kPartsPerGroup);
    Index* counters = pieces.counters + slice * pieces.counter_count + cut.first_counter;
    Number* partial = op.partial + column;
    const Offset stride = op.c.cols;
    if (!arrive(sums, partial + slot * stride, has_columns, counters + my_group, in_group, mask,
                lane)) {
      return;
    }
    const Offset first = Offset{cut.first_slot} + my_group * kPartsPerGroup;
    add_slots(sums, partial + first * stride, stride, has_columns, in_group);
    if (groups > 1) {
      const Offset group_slot = Offset{cut.first_slot} + cut.parts;
      if (!arrive(sums, partial + (group_slot + my_group) * stride, has_columns, counters + groups,
                  groups, mask, lane)) {
        return;
      }
      add_slots(sums, partial + group_slot * stride, stride, has_columns, groups);
    }
    row = cut.row;
  }
  typename Types::Output* c = op.c.data + Offset{row} * op.c.leading_dim + column;
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) {
    if (has_columns[i]) sums.part[i].store(c + i * kLanes * kWidth, op.alpha, op.beta);
  }
}

template <class Types>
class RowBins {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;

 public:
  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    const PieceBinner binner(sizes, most_slices(sizes));
    return binner.workspace_bytes() + static_cast<std::uint64_t>(binner.max_slots()) *
                                          static_cast<std::uint64_t>(sizes.dense_cols) *
                                          sizeof(Number);
  }

  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    return PieceBinner(sizes, most_slices(sizes)).workspace_bytes();
  }

  void adopt(const SpmmSizes& sizes, void* workspace) {
    binner_ = PieceBinner(sizes, most_slices(sizes));
    partial_ =
        reinterpret_cast<Number*>(static_cast<std::byte*>(workspace) + binner_.workspace_bytes());
  }

  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    binner_.analyse(a.row_offsets, a.base, workspace, stream);
  }

  void finish_analysis(void* workspace, cudaStream_t stream) {
    pieces_ = binner_.finish(workspace, stream);
  }

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<typename Types::Output>& c, Number alpha, Number beta, void*,
              cudaStream_t stream) const {
    const auto row_bytes = checked_cast<unsigned, UsageError>(
        b.leading_dim * static_cast<Offset>(sizeof(Value)), "row_bins: a row of B in bytes");
    with_width<Types>(widest_access(b, c), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      Operands<Types> operands{a, b, c, alpha, beta, pieces_, partial_, row_bytes, 0};
      // Two accesses per lane as soon as one does not cover the columns, and if 64 registers hold
      // the sums of both.
      if constexpr (kWidth <= 4) {
        if (c.cols > kLanes * kWidth) return launch_slices<kWidth, 2>(operands, stream);
      }
      launch_slices<kWidth, 1>(operands, stream);
    });
  }

  std::string choice() const {
    return std::to_string(pieces_.piece_count) + " pieces of at most about " +
           std::to_string(binner_.piece_entries()) + " nonzeros";
  }

 private:
  /// Slices at the narrowest access, which is the most there can be: how operands are aligned is not
  /// known before they are bound.
  static Offset most_slices(const SpmmSizes& sizes) {
    return (Offset{sizes.dense_cols} + kLanes - 1) / kLanes;
  }

  template <int kWidth, int kAccesses>
  void launch_slices(Operands<Types> operands, cudaStream_t stream) const {
    constexpr Offset kSlice = Offset{kWidth} * kAccesses * kLanes;
    const Offset slices = (Offset{operands.c.cols} + kSlice - 1) / kSlice;
    const Offset blocks = (pieces_.piece_count * kLanes + kThreads - 1) / kThreads;
    for (; operands.first_slice < slices; operands.first_slice += kMaxGridY) {
      const Offset now = std::min(slices - operands.first_slice, kMaxGridY);
      const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(now));
      multiply_bins<Types, kWidth, kAccesses><<<grid, kThreads, 0, stream>>>(operands);
      CHECK_LAUNCH("multiply_bins", stream);
    }
  }

  PieceBinner binner_;
  BinnedPieces pieces_;
  Number* partial_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_row_bins(const SpmmProblem& problem) {
  return typed_spmm<RowBins>(problem);
}

}  // namespace csrkit::gpu
