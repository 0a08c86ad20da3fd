// The warps of a block of dense_windows that bring windows into shared memory.
#pragma once

#include "gpu/spmm/dense_windows/halves/stages.cuh"

namespace csrkit::gpu {

/// Brings the windows of the units [unit, end) into shared memory. While a window's entries are
/// stored, those of the next window are being loaded, and the list bounds of the one after that.
template <class Types, int kTileCols>
class WindowBringer {
  static constexpr int kNumbers = kHalves<Types>;
  static constexpr int kThreads = kBringers;
  static constexpr int kAhead = 16;  // entries a thread: 2,048 of a window's 8,192 places

 public:
  __device__ WindowBringer(const WindowOperands<Types>& op,
                           WindowsInShared<kTileCols, kNumbers>& shared, Offset unit, Offset end)
      : op_(op),
        shared_(shared),
        thread_(static_cast<int>(threadIdx.x) - kMultipliers),
        left_(end - unit),
        now_(op.shape, unit),
        lists_(op.shape, op.workspace.begins, unit, thread_) {}

  /// Loads the first entries. Needs nothing of B.
  __device__ void begin() { take_next(); }

  __device__ void bring() {
    StageTurn turn;
    int unused = kStages;
#pragma unroll 1
    for (; left_ > 0; --left_) {
      if (unused-- <= 0) detail::wait_until_empty(turn.stage);
      WindowStage<kTileCols, kNumbers>& stage = shared_.stages[turn.stage];
      copy_b(stage, &shared_.full[turn.stage]);
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
    const auto* from = reinterpret_cast<const uint2*>(op_.workspace.entries + lists_.begin);
    const int left = lists_.left_at_hand();
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (i * kThreads < left) {
        const uint2 entry = __ldg(from + i * kThreads);
        ahead_[i] = {entry.x, entry.y};
      }
    }
  }

  __device__ void copy_b(WindowStage<kTileCols, kNumbers>& stage, std::uint64_t* full) const {
    constexpr int kBytes = b_part_bytes(kTileCols, kNumbers);
    const Offset part = now_.col_tile * op_.shape.windows + now_.window;
    detail::copy_part<kBytes>(stage.b, op_.workspace.b_parts + part * kBytes, full, thread_);
  }

  __device__ void clear(WindowStage<kTileCols, kNumbers>& stage) const {
    constexpr int kBytes = kTileRows * kWindowCols * 2;
#pragma unroll
    for (int at = 0; at < kBytes; at += kThreads * 16) {
#pragma unroll
      for (auto& half : stage.a) *reinterpret_cast<uint4*>(half + at + thread_ * 16) = {};
    }
    detail::named_barrier<2, kThreads>();
  }

  /// Stores the loaded entries, and the rest of the window, if there is any (rare).
  __device__ void put(WindowStage<kTileCols, kNumbers>& stage) {
#pragma unroll 1
    while (true) {
      const int left = lists_.left_at_hand();
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (i * kThreads < left) {
          const WindowEntry& entry = ahead_[i];
#pragma unroll
          for (int h = 0; h < kNumbers; ++h) {
            *reinterpret_cast<unsigned short*>(stage.a[h] + entry.place) =
                static_cast<unsigned short>(entry.halves >> 16 * h);
          }
        }
      }
      if (!lists_.has_more()) break;
      fetch();
    }
  }

  const WindowOperands<Types>& op_;
  WindowsInShared<kTileCols, kNumbers>& shared_;
  const int thread_;
  Offset left_;
  UnitCursor now_;
  EntryLists<kAhead> lists_;
  WindowEntry ahead_[kAhead];
};

}  // namespace csrkit::gpu
