// The device code of dense_windows: what the warps of a block do with its windows.
#pragma once

#include <cuda_fp16.h>

#include "gpu/spmm/arithmetic.cuh"
#include "gpu/spmm/dense_windows.h"
#include "gpu/spmm/row_bins_sums.cuh"

namespace csrkit::gpu {

struct WindowOperands {
  DeviceCsrView<float> a;
  DeviceDenseView<const float> b;
  DeviceDenseView<float> c;
  float alpha, beta;
  WindowShape shape;
  WindowWorkspace workspace;
};

// Eight warps multiply; four or, where there is less to multiply, eight bring windows into shared memory.
inline constexpr int kMultipliers = 256;
template <int kTileCols>
inline constexpr int kBringers = 128;
template <int kTileCols>
inline constexpr int kWindowThreads = kMultipliers + kBringers<kTileCols>;
inline constexpr int kStages = 4;

/// A window in shared memory: A as two dense matrices of f16, B's part as it was prepared.
template <int kTileCols>
struct alignas(128) WindowStage {
  alignas(128) std::byte a_hi[kTileRows * kWindowCols * 2];
  alignas(128) std::byte a_lo[kTileRows * kWindowCols * 2];
  alignas(128) std::byte b_hi[kTileCols * kWindowCols * 2];
  std::byte b_lo[kTileCols * kWindowCols * 2];
  float b_scales[kTileCols];
};

template <int kTileCols>
struct WindowsInShared {
  WindowStage<kTileCols> stages[kStages];
  std::uint64_t full[kStages], empty[kStages];
  int is_last;
};

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
/// Arrives when the copies that this thread has asked for are there.
__device__ inline void barrier_arrive_after_copies(std::uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier))
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
__device__ inline void copy_16_bytes(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
}
__device__ inline void load_fragments(unsigned (&to)[4], const void* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(from)));
}
__device__ inline void load_transposed_fragments(unsigned (&to)[4], const void* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(from)));
}
/// sums += x y: 16 x 16 times 16 x 8, f16 in, f32 out.
__device__ inline void multiply_fragments(float (&sums)[4], const unsigned (&x)[4],
                                          const unsigned* y) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
template <int kBarrier, int kThreads>
__device__ inline void named_barrier() {
  asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "n"(kThreads) : "memory");
}

}  // namespace detail

/// A position in the ring of stages, and how often it went around.
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

/// Brings the windows [unit, end) into shared memory. The next window's entries are on their way while
/// this one's are put in their places.
template <int kTileCols>
class WindowBringer {
  static constexpr int kThreads = kBringers<kTileCols>;
  static constexpr int kAhead = 1024 / kThreads;  // entries a thread: a quarter of a window

 public:
  __device__ WindowBringer(const WindowOperands& op, WindowsInShared<kTileCols>& shared)
      : op_(op), shared_(shared), thread_(static_cast<int>(threadIdx.x) - kMultipliers) {}

  __device__ void bring(Offset unit, Offset end) {
    const WindowShape& shape = op_.shape;
    StageTurn turn;
    Offset tile = unit / shape.windows, window = unit % shape.windows;
    look_ahead(tile / shape.col_tiles * shape.windows + window);
#pragma unroll 1
    for (; unit < end; ++unit) {
      detail::barrier_wait(&shared_.empty[turn.stage], turn.parity ^ 1);
      WindowStage<kTileCols>& stage = shared_.stages[turn.stage];
      copy_b(stage, tile % shape.col_tiles * shape.windows + window);
      detail::barrier_arrive_after_copies(&shared_.full[turn.stage]);
      clear(stage);
      if (++window == shape.windows) {
        window = 0;
        ++tile;
      }
      put(stage, unit + 1 < end ? tile / shape.col_tiles * shape.windows + window : -1);
      detail::barrier_arrive(&shared_.full[turn.stage]);
      turn.next();
    }
  }

 private:
  __device__ void look_ahead(Offset window) {
    begin_ = op_.workspace.begins[window] + thread_;
    end_ = op_.workspace.begins[window + 1];
    fetch();
  }
  __device__ void fetch() {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (begin_ + i * kThreads < end_) {
        const uint2 entry =
            __ldg(reinterpret_cast<const uint2*>(op_.workspace.entries + begin_ + i * kThreads));
        ahead_[i] = {entry.x, entry.y};
      }
    }
  }

  __device__ void copy_b(WindowStage<kTileCols>& stage, Offset part) const {
    constexpr int kBytes = kTileCols * (kWindowCols * 4 + 4);
    const std::byte* from = op_.workspace.b_parts + part * kBytes;
#pragma unroll
    for (int at = 0; at < kBytes; at += kThreads * 16) {
      const int mine = at + thread_ * 16;
      if (mine < kBytes) detail::copy_16_bytes(stage.b_hi + mine, from + mine);
    }
  }

  __device__ void clear(WindowStage<kTileCols>& stage) const {
    constexpr int kBytes = kTileRows * kWindowCols * 2;
#pragma unroll
    for (int at = 0; at < kBytes; at += kThreads * 16) {
      *reinterpret_cast<uint4*>(stage.a_hi + at + thread_ * 16) = {};
      *reinterpret_cast<uint4*>(stage.a_lo + at + thread_ * 16) = {};
    }
    detail::named_barrier<2, kThreads>();
  }

  /// Puts the entries at hand in their places, and the rest of the window, which is rarely any; looks
  /// ahead to `next`, if there is one.
  __device__ void put(WindowStage<kTileCols>& stage, Offset next) {
#pragma unroll 1
    while (true) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (begin_ + i * kThreads < end_) {
          const WindowEntry& entry = ahead_[i];
          *reinterpret_cast<unsigned short*>(stage.a_hi + entry.place) =
              static_cast<unsigned short>(entry.halves);
          *reinterpret_cast<unsigned short*>(stage.a_lo + entry.place) =
              static_cast<unsigned short>(entry.halves >> 16);
        }
      }
      begin_ += kAhead * kThreads;
      if (begin_ >= end_) break;
      fetch();
    }
    if (next >= 0) look_ahead(next);
  }

  const WindowOperands& op_;
  WindowsInShared<kTileCols>& shared_;
  const int thread_;
  Offset begin_ = 0, end_ = 0;
  WindowEntry ahead_[kAhead];
};

/// Multiplies the windows [unit, end), and writes tiles of C.
template <int kTileCols>
class WindowMultiplier {
  static constexpr int kWarpsDown = kTileCols == 32 ? 8 : 4;
  static constexpr int kWarpRows = kTileRows / kWarpsDown;
  static constexpr int kWarpCols = kTileCols / (kMultipliers / 32 / kWarpsDown);
  static constexpr int kHigh = kWarpRows / 16, kWide = kWarpCols / 8;  // in fragments of sums
  static constexpr int kSteps = kWindowCols / 16;
  static constexpr int kBarrier = 1;

 public:
  __device__ WindowMultiplier(const WindowOperands& op, WindowsInShared<kTileCols>& shared)
      : op_(op),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x) % 32),
        first_row_(static_cast<int>(threadIdx.x) / 32 % kWarpsDown * kWarpRows),
        first_col_(static_cast<int>(threadIdx.x) / 32 / kWarpsDown * kWarpCols) {}

  __device__ void multiply(Offset unit, Offset end) {
    const Offset windows = op_.shape.windows;
    StageTurn turn;
    while (unit < end) {
      const Offset tile = unit / windows;
      const Offset tile_end = min(end, (tile + 1) * windows);
      const bool is_whole = unit == tile * windows && tile_end == (tile + 1) * windows;
      clear();
#pragma unroll 1
      for (auto left = static_cast<int>(tile_end - unit); left > 0; --left) {
        detail::barrier_wait(&shared_.full[turn.stage], turn.parity);
        add_window(shared_.stages[turn.stage]);
        __syncwarp();
        if (lane_ == 0) detail::barrier_arrive(&shared_.empty[turn.stage]);
        turn.next();
      }
      unit = tile_end;
      if (is_whole || meet_other_parts(tile)) store(tile);
    }
  }

 private:
  __device__ void clear() {
#pragma unroll
    for (int m = 0; m < kHigh; ++m) {
#pragma unroll
      for (int n = 0; n < kWide; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) sums_[m][n][i] = 0;
      }
    }
  }

  __device__ void add_window(const WindowStage<kTileCols>& stage) {
    unsigned a_hi[kSteps][kHigh][4], a_lo[kSteps][kHigh][4];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int m = 0; m < kHigh; ++m) {
        const int at = a_place(first_row_ + m * 16 + (lane_ & 15), s * 2 + (lane_ >> 4));
        detail::load_fragments(a_hi[s][m], stage.a_hi + at);
        detail::load_fragments(a_lo[s][m], stage.a_lo + at);
      }
    }
    unsigned b_hi[2][4], b_lo[2][4];
    const auto load_b = [&](int to, int at_pair, int step) {
      const int at =
          b_place<kTileCols>(step * 16 + (lane_ & 15), first_col_ / 8 + at_pair * 2 + (lane_ >> 4));
      detail::load_transposed_fragments(b_hi[to], stage.b_hi + at);
      detail::load_transposed_fragments(b_lo[to], stage.b_lo + at);
    };
    load_b(0, 0, 0);
#pragma unroll
    for (int pair = 0; pair < kWide / 2; ++pair) {
      float high[kHigh][2][4] = {}, low[kHigh][2][4] = {};
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        const int now = (pair * kSteps + s) % 2;
        if (s + 1 < kSteps) {
          load_b(1 - now, pair, s + 1);
        } else if (pair + 1 < kWide / 2) {
          load_b(1 - now, pair + 1, 0);
        }
#pragma unroll
        for (int m = 0; m < kHigh; ++m) {
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            detail::multiply_fragments(low[m][j], a_hi[s][m], b_lo[now] + 2 * j);
          }
        }
#pragma unroll
        for (int m = 0; m < kHigh; ++m) {
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            detail::multiply_fragments(high[m][j], a_hi[s][m], b_hi[now] + 2 * j);
          }
        }
#pragma unroll
        for (int m = 0; m < kHigh; ++m) {
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            detail::multiply_fragments(low[m][j], a_lo[s][m], b_hi[now] + 2 * j);
          }
        }
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int n = pair * 2 + j;
        const float2 scales =
            *reinterpret_cast<const float2*>(stage.b_scales + first_col_ + n * 8 + lane_ % 4 * 2);
#pragma unroll
        for (int m = 0; m < kHigh; ++m) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const float product = fmaf(low[m][j][i], 1.0f / 2048, high[m][j][i]);
            sums_[m][n][i] = fmaf(product, i % 2 == 0 ? scales.x : scales.y, sums_[m][n][i]);
          }
        }
      }
    }
  }

  __device__ float* partial(Offset block, Offset tile) const {
    const bool is_first = op_.shape.first_unit(block) >= tile * op_.shape.windows;
    const Offset slot = block * 2 + (is_first ? 0 : 1);
    return op_.workspace.partial + (slot * (kTileRows * kTileCols) + threadIdx.x * 4);
  }

  __device__ void add_parts(float (&sums)[kWide][4], Offset tile, Offset first, Offset last,
                            int fragment) const {
    constexpr int kBatch = 8 / kWide;  // parts under way, in what registers there are
#pragma unroll 1
    for (Offset block = first; block <= last; block += kBatch) {
      Pack<float, 4> parts[kBatch][kWide];
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (block + u > last) continue;
        const float* from = partial(block + u, tile) + fragment * (kMultipliers * 4);
#pragma unroll
        for (int n = 0; n < kWide; ++n) {
          parts[u][n] = load_shared_by_all<4>(from + n * (kMultipliers * 4));
        }
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
        if (block + u > last) continue;
#pragma unroll
        for (int n = 0; n < kWide; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) sums[n][i] += parts[u][n].item[i];
        }
      }
    }
  }

  /// Leaves this block's sums, and adds up all blocks', in their order, if it came last.
  __device__ bool meet_other_parts(Offset tile) {
    const WindowShape& shape = op_.shape;
    const Offset first = shape.block_of(tile * shape.windows);
    const Offset last = shape.block_of((tile + 1) * shape.windows - 1);
    float* mine = partial(blockIdx.x, tile);
#pragma unroll
    for (int m = 0; m < kHigh; ++m) {
#pragma unroll
      for (int n = 0; n < kWide; ++n) {
        store_shared_by_all<4>(mine + (m * kWide + n) * (kMultipliers * 4), sums_[m][n]);
      }
    }
    __threadfence();
    detail::named_barrier<kBarrier, kMultipliers>();
    if (threadIdx.x == 0) {
      Index* arrivals = op_.workspace.arrivals + tile;
      const bool is_last = atomicAdd(arrivals, 1) == static_cast<Index>(last - first);
      if (is_last) *arrivals = 0;
      shared_.is_last = is_last ? 1 : 0;
    }
    detail::named_barrier<kBarrier, kMultipliers>();
    if (shared_.is_last == 0) return false;
    __threadfence();
    clear();
#pragma unroll
    for (int m = 0; m < kHigh; ++m) add_parts(sums_[m], tile, first, last, m * kWide);
    return true;
  }

  __device__ void store(Offset tile) const {
    const Offset row = tile / op_.shape.col_tiles * kTileRows + first_row_ + lane_ / 4;
    const Offset column = tile % op_.shape.col_tiles * kTileCols + first_col_ + lane_ % 4 * 2;
    const bool in_pairs =
        op_.c.leading_dim % 2 == 0 && reinterpret_cast<std::uintptr_t>(op_.c.data) % 8 == 0;
#pragma unroll
    for (int half = 0; half < 2 * kHigh; ++half) {
      const Offset my_row = row + half * 8;
      const float scale = my_row < op_.c.rows ? op_.workspace.row_scales[my_row] : 0;
      if (scale == 0) continue;
      const float back = 32768.0f / scale;
#pragma unroll
      for (int n = 0; n < kWide; ++n) {
        store_pair(my_row, column + n * 8, sums_[half / 2][n][half % 2 * 2] * back,
                   sums_[half / 2][n][half % 2 * 2 + 1] * back, in_pairs);
      }
    }
  }

  __device__ void store_pair(Offset row, Offset column, float x, float y, bool in_pairs) const {
    float* c = op_.c.data + row * op_.c.leading_dim + column;
    const bool has_x = column < op_.c.cols, has_y = column + 1 < op_.c.cols;
    x *= op_.alpha;
    y *= op_.alpha;
    if (op_.beta != 0) {
      if (has_x) x = fmaf(op_.beta, c[0], x);
      if (has_y) y = fmaf(op_.beta, c[1], y);
    }
    if (has_y && in_pairs) {
      __stcs(reinterpret_cast<float2*>(c), {x, y});
    } else {
      if (has_x) __stcs(c, x);
      if (has_y) __stcs(c + 1, y);
    }
  }

  const WindowOperands& op_;
  WindowsInShared<kTileCols>& shared_;
  const int lane_, first_row_, first_col_;
  float sums_[kHigh][kWide][4];
};

/// Rows that the tensor cores must not or need not see, one warp each, 128 columns at a time: all if
/// `all`, else those without a scale.
template <int kThreads>
__device__ void multiply_rows_by_fma(const WindowOperands& op, bool all) {
  constexpr int kEach = 4, kBatch = 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset warps = Offset{gridDim.x} * (kThreads / 32);
  const Offset warp = Offset{threadIdx.x / 32} * gridDim.x + blockIdx.x;
  const auto multiply_row = [&](Offset row) {
    const Offset begin = op.a.row_begin(static_cast<Index>(row));
    const Offset end = op.a.row_end(static_cast<Index>(row));
    for (Offset first = lane; first - lane < op.c.cols; first += 32 * kEach) {
      float sums[kEach] = {};
      for (Offset at = begin; at < end; at += kBatch) {
        float y[kBatch][kEach], x[kBatch];
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
          if (at + u < end) {
            x[u] = op.a.values == nullptr ? 1.0f : __ldg(op.a.values + at + u);
            const float* from =
                op.b.data + Offset{__ldg(op.a.col_indices + at + u)} * op.b.leading_dim + first;
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
              if (first + 32 * i < op.c.cols) y[u][i] = __ldg(from + 32 * i);
            }
          }
        }
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
          if (at + u < end) {
#pragma unroll
            for (int i = 0; i < kEach; ++i) sums[i] = fmaf(x[u], y[u][i], sums[i]);
          }
        }
      }
      float* c = op.c.data + row * op.c.leading_dim + first;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        if (first + 32 * i < op.c.cols) {
          float out = sums[i] * op.alpha;
          if (op.beta != 0) out = fmaf(op.beta, c[32 * i], out);
          __stcs(c + 32 * i, out);
        }
      }
    }
  };
  if (all) {
    for (Offset row = warp; row < op.c.rows; row += warps) multiply_row(row);
    return;
  }
  for (Offset first = warp; first < op.c.rows; first += 32 * warps) {
    const Offset row = first + lane * warps;
    const bool is_mine = row < op.c.rows && op.workspace.row_scales[row] == 0;
    for (unsigned left = __ballot_sync(0xffffffffu, is_mine); left != 0; left &= left - 1) {
      multiply_row(first + (__ffs(static_cast<int>(left)) - 1) * warps);
    }
  }
}

}  // namespace csrkit::gpu
