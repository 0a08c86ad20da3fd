// How the warps of a block of dense_windows hand over windows, of every kind: a ring of stages in
// shared memory, barriers, and the order of the work.
#pragma once

#include "gpu/spmm/dense_windows/shape.h"

namespace csrkit::gpu {

// Eight warps multiply, four bring windows into shared memory.
inline constexpr int kMultipliers = 256, kBringers = 128;
inline constexpr int kWindowThreads = kMultipliers + kBringers;
inline constexpr int kStages = 3;

namespace detail {

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ inline void barrier_init(std::uint64_t* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}
__device__ inline void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}\n" ::"r"(
                   shared_address(barrier))
               : "memory");
}
__device__ inline void barrier_wait(std::uint64_t* barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\n"
#if __CUDA_ARCH__ >= 900
        "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
#else
        "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
#endif
        "selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

template <int kBarrier, int kThreads>
__device__ inline void named_barrier() {
  asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "n"(kThreads) : "memory");
}

/// The multiplying warps say that they are done with a stage, and the bringing warps wait for that.
/// By named barriers, one for each stage, at which whole warps arrive: racecheck does not follow
/// one lane that arrives at an mbarrier for its warp. Barrier 0 is that of __syncthreads, 1 and 2
/// are in use for the multiplying and the bringing warps alone.
inline constexpr unsigned kFirstEmptyBarrier = 3;
__device__ inline void announce_empty(int stage) {
  __syncwarp();
  asm volatile("bar.arrive %0, %1;" ::"r"(kFirstEmptyBarrier + stage), "n"(kWindowThreads)
               : "memory");
}
__device__ inline void wait_until_empty(int stage) {
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(kFirstEmptyBarrier + stage), "n"(kWindowThreads)
               : "memory");
}

}  // namespace detail

/// A position in the ring of stages, and the parity of its rounds.
struct StageTurn {
  int stage = 0;
  unsigned parity = 0;
  __device__ void next() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// A unit of work by its coordinates; steps to the next one without a division.
struct UnitCursor {
  Offset row_tile, col_tile, window;

  __device__ UnitCursor(const WindowShape& shape, Offset unit)
      : row_tile(unit / shape.windows / shape.col_tiles),
        col_tile(unit / shape.windows % shape.col_tiles),
        window(unit % shape.windows) {}
  __device__ void next(const WindowShape& shape) {
    if (++window < shape.windows) return;
    window = 0;
    if (++col_tile < shape.col_tiles) return;
    col_tile = 0;
    ++row_tile;
  }
};

/// Where a bringing thread's entries of a window are in the lists, window after window of the units
/// that a block has. The bounds of the next list are loaded while those of this one are in use.
template <int kAhead>
class EntryLists {
 public:
  Offset begin = 0, end = 0;  // of this thread's entries, kBringers apart

  __device__ EntryLists(const WindowShape& shape, const Offset* begins, Offset unit, int thread)
      : shape_(shape), begins_(begins), thread_(thread), next_(shape, unit) {
    find_next(true);
  }
  /// Goes to the next list.
  __device__ void take() {
    begin = next_begin_;
    end = next_end_;
  }
  /// Loads the bounds of the list after this one; `left` counts the windows that are not brought
  /// yet. To be called when the loads of this list's entries are under way.
  __device__ void look_ahead(Offset left) {
    find_next(left > 2 || (left > 1 && is_at_start_));
    is_at_start_ = false;
  }
  /// The entries of the list that a thread has loaded or still has to load, kAhead at a time.
  __device__ int left_at_hand() const {
    return static_cast<int>(min(end - begin, Offset{kAhead} * kBringers));
  }
  /// Whether there are more of them than were at hand.
  __device__ bool has_more() {
    begin += kAhead * kBringers;
    return begin < end;
  }

 private:
  __device__ void find_next(bool is_there) {
    next_begin_ = next_end_ = 0;
    if (!is_there) return;
    const Offset* begins = begins_ + next_.row_tile * shape_.windows + next_.window;
    next_begin_ = begins[0] + thread_;
    next_end_ = begins[1];
    next_.next(shape_);
  }

  const WindowShape& shape_;
  const Offset* begins_;
  const int thread_;
  UnitCursor next_;
  bool is_at_start_ = true;
  Offset next_begin_ = 0, next_end_ = 0;
};

/// A multiplying warp takes the windows of the units [unit, end), one tile of C after another:
/// clear() before a tile, add(stage) for a window, finish(tile, whether the block has all of the
/// tile).
template <class Shared, class Clear, class Add, class Finish>
__device__ void for_tiles(const WindowShape& shape, Shared& shared, Offset unit, Offset end,
                          Clear clear, Add add, Finish finish) {
  const Offset windows = shape.windows;
  auto to_be_brought = static_cast<int>(end - unit) - kStages;  // windows, after those in flight
  StageTurn turn;
  while (unit < end) {
    const Offset tile = unit / windows;
    const Offset tile_end = min(end, (tile + 1) * windows);
    const bool is_whole = unit == tile * windows && tile_end == (tile + 1) * windows;
    clear();
#pragma unroll 1
    for (auto left = static_cast<int>(tile_end - unit); left > 0; --left) {
      detail::barrier_wait(&shared.full[turn.stage], turn.parity);
      add(shared.stages[turn.stage]);
      if (to_be_brought-- > 0) detail::announce_empty(turn.stage);
      turn.next();
    }
    unit = tile_end;
    finish(tile, is_whole);
  }
}

}  // namespace csrkit::gpu
