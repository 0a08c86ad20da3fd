// The warps of a block of dense_windows that bring windows into shared memory, in f64.
#pragma once

#include "gpu/spmm/dense_windows/f64/windows.h"

namespace csrkit::gpu::dense_windows_f64 {

/// Copies kBytes asynchronously, or clears them if `bytes` is 0.
template <int kBytes>
__device__ inline void copy_or_clear(double* to, const double* from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(detail::shared_address(to)),
               "l"(from), "n"(kBytes), "r"(bytes)
               : "memory");
}
/// The barrier counts this thread once its copies so far are there.
__device__ inline void arrive_with_copies(std::uint64_t* barrier) {
  asm volatile(
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(detail::shared_address(barrier))
      : "memory");
}

/// Brings the windows of the units [unit, end) into shared memory. While a window's entries are
/// stored, B's part is on its way, and then those of the next window.
template <int kTileCols>
class WindowBringer {
  static constexpr int kThreads = kBringers;
  static constexpr int kAhead = 12;  // entries a thread: 1,536 of a window's 4,096 places

 public:
  __device__ WindowBringer(const WindowOperands<SpmmTypes<double, double>>& op,
                           StagesInShared<kTileCols>& shared, Offset unit, Offset end)
      : op_(op),
        shared_(shared),
        thread_(static_cast<int>(threadIdx.x) - kMultipliers),
        left_(end - unit),
        now_(op.shape, unit),
        lists_(op.shape, op.workspace.begins, unit, thread_),
        in_pairs_(op.b.leading_dim % 2 == 0 &&
                  reinterpret_cast<std::uintptr_t>(op.b.data) % 16 == 0) {}

  __device__ void bring() {
    take_next();
    StageTurn turn;
    int unused = kStages;
#pragma unroll 1
    for (; left_ > 0; --left_) {
      if (unused-- <= 0) detail::wait_until_empty(turn.stage);
      Stage<kTileCols>& stage = shared_.stages[turn.stage];
      if (in_pairs_) {
        copy_b<2>(stage);
      } else {
        copy_b<1>(stage);
      }
      arrive_with_copies(&shared_.full[turn.stage]);
      clear(stage);
      put(stage);
      detail::barrier_arrive(&shared_.full[turn.stage]);
      take_next();
      turn.next();
      now_.next(op_.shape);
    }
  }

 private:
  __device__ void take_next() {
    lists_.take();
    fetch();
    lists_.look_ahead(left_);
  }
  __device__ void fetch() {
    const double* values = op_.workspace.values + lists_.begin;
    const std::uint16_t* positions = op_.workspace.positions + lists_.begin;
    const int left = lists_.left_at_hand();
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (i * kThreads < left) {
        values_[i] = __ldg(values + i * kThreads);
        positions_[i] = __ldg(positions + i * kThreads);
      }
    }
  }

  /// Columns beyond B's and rows beyond A's columns are zeros.
  template <int kEach>
  __device__ void copy_b(Stage<kTileCols>& stage) const {
    constexpr int kInRow = kTileCols / kEach, kBytes = kEach * static_cast<int>(sizeof(double));
    const Offset first_row = now_.window * kWindowCols, first_col = now_.col_tile * kTileCols;
#pragma unroll
    for (int i = 0; i < kWindowCols * kInRow; i += kThreads) {
      const int row = (i + thread_) / kInRow, col = (i + thread_) % kInRow * kEach;
      const Offset left = first_row + row < op_.b.rows ? op_.b.cols - first_col - col : 0;
      const int bytes = static_cast<int>(min(max(left, Offset{0}), Offset{kEach})) * 8;
      const double* from =
          bytes == 0 ? op_.b.data
                     : op_.b.data + (first_row + row) * op_.b.leading_dim + first_col + col;
      copy_or_clear<kBytes>(stage.b + b_place<kTileCols>(row, col), from, bytes);
    }
  }

  __device__ void clear(Stage<kTileCols>& stage) const {
#pragma unroll
    for (int at = 0; at < kTileRows * kWindowCols; at += kThreads * 2) {
      *reinterpret_cast<double2*>(stage.a + at + thread_ * 2) = {};
    }
    detail::named_barrier<2, kThreads>();
  }

  /// Stores the loaded entries, and the rest of the window, if there is any.
  __device__ void put(Stage<kTileCols>& stage) {
#pragma unroll 1
    while (true) {
      const int left = lists_.left_at_hand();
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (i * kThreads < left) stage.a[positions_[i]] = values_[i];
      }
      if (!lists_.has_more()) break;
      fetch();
    }
  }

  const WindowOperands<SpmmTypes<double, double>>& op_;
  StagesInShared<kTileCols>& shared_;
  const int thread_;
  Offset left_;
  UnitCursor now_;
  EntryLists<kAhead> lists_;
  const bool in_pairs_;  // whether 16 bytes of B can be copied at once
  double values_[kAhead];
  std::uint16_t positions_[kAhead];
};

}  // namespace csrkit::gpu::dense_windows_f64
