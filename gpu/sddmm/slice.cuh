// Inner products of four entries at a time: how a lane reads its columns of X and Y, and how a
// group adds up its lanes.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/sddmm/rows.cuh"

namespace csrkit::gpu::sddmm {

/// Entries that a group computes at the same time.
inline constexpr int kAtOnce = 4;

/// Adds the products of the kWidth elements of two words, one after the other.
template <class T, int kWidth, class Word>
__device__ SumOf<T> add_products(SumOf<T> sum, const Word& x, const Word& y) {
  Pack<T, kWidth> of_x, of_y;
  memcpy(&of_x, &x, sizeof x);
  memcpy(&of_y, &y, sizeof y);
#pragma unroll
  for (int item = 0; item < kWidth; ++item) {
    sum = fma(widen<SumOf<T>>(of_x.item[item]), widen<SumOf<T>>(of_y.item[item]), sum);
  }
  return sum;
}

/// Every lane has four partial sums. The lanes of the i-th quarter of the group get the total of
/// the i-th sum. All totals are added in the same order.
template <int kLanes, class Sum>
__device__ Sum add_lanes(const Sum* sum, int lane) {
  constexpr int kHalf = kLanes / 2, kQuarter = kLanes / 4;
  const bool is_upper = (lane & kHalf) != 0;
  Sum first = is_upper ? sum[2] : sum[0], second = is_upper ? sum[3] : sum[1];
  first += __shfl_xor_sync(kAllLanes, is_upper ? sum[0] : sum[2], kHalf);
  second += __shfl_xor_sync(kAllLanes, is_upper ? sum[1] : sum[3], kHalf);
  const bool is_odd = (lane & kQuarter) != 0;
  Sum own = is_odd ? second : first;
  own += __shfl_xor_sync(kAllLanes, is_odd ? first : second, kQuarter);
#pragma unroll
  for (int distance = kQuarter / 2; distance > 0; distance /= 2) {
    own += __shfl_xor_sync(kAllLanes, own, distance);
  }
  return own;
}

/// The products of a lane's columns of four rows of Y with their rows of X. A row takes kSteps
/// loads a lane, kLanes * kWidth columns apart. Unless kIsFull, some lanes lack the last load: they
/// load their first columns again, without a branch, and drop the result.
template <class T, class Bytes, int kLanes, int kWidth, int kSteps, bool kIsFull, bool kMixes>
struct Slice {
  using Load = typename detail::Word<sizeof(T) * kWidth>::type;
  using Sums = SumOf<T>[kAtOnce];
  using Indices = const Index (&)[kAtOnce];
  static constexpr int kStride = kLanes * kWidth;
  /// Loads of a row in flight before the first is used.
  static constexpr int kTogether = kSteps * sizeof(Load) <= 32 ? kSteps : 32 / sizeof(Load);

  Rows<T, Bytes> x, y;
  Index last_step = (kSteps - 1) * kStride;
  bool has_last = true;
  Load kept[kSteps];  // of X, while the row stays the same
  Index kept_row = -1;

  __device__ Slice(const Rows<T, Bytes>& all_x, const Rows<T, Bytes>& all_y, Index col, Index cols)
      : x(all_x), y(all_y) {
    if constexpr (!kIsFull) {
      has_last = col + last_step < cols;
      if (!has_last) last_step = 0;
      if (kSteps == 1 && !has_last) col = 0;
    }
    x.first += col;
    y.first += col;
  }

  __device__ Load load(const Rows<T, Bytes>& from, Index row, int step) const {
    if (!kIsFull && kSteps > 1 && step == kSteps - 1)
      return load_word<Load>(from.at(row, last_step));
    return load_word<Load>(from.at(row, 0) + step * kStride);
  }

  __device__ void add_load(SumOf<T>& sum, const Load& of_x, const Load& of_y, int step) const {
    const SumOf<T> next = add_products<T, kWidth>(sum, of_x, of_y);
    sum = kIsFull || step < kSteps - 1 || has_last ? next : sum;
  }

  __device__ void add(Sums& sum, const int4& y_rows, const int4& x_rows) {
    if (__all_sync(kAllLanes, x_rows.x == x_rows.w)) {
      keep(x_rows.x);
      add_kept_row(sum, {y_rows.x, y_rows.y, y_rows.z, y_rows.w});
    } else if constexpr (kSteps == 1) {
      add_new_rows(sum, {y_rows.x, y_rows.y, y_rows.z, y_rows.w},
                   {x_rows.x, x_rows.y, x_rows.z, x_rows.w});
    } else {
      add_own_rows(sum, {y_rows.x, y_rows.y, y_rows.z, y_rows.w},
                   {x_rows.x, x_rows.y, x_rows.z, x_rows.w});
    }
  }

  __device__ void keep(Index row) {
    if (row == kept_row) return;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) kept[step] = load(x, row, step);
    kept_row = row;
  }

  __device__ void add_kept_row(Sums& sum, Indices y_rows) const {
#pragma unroll
    for (int begin = 0; begin < kSteps; begin += kTogether) {
      Load of_y[kTogether][kAtOnce];
#pragma unroll
      for (int i = 0; i < kTogether && begin + i < kSteps; ++i) {
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n) of_y[i][n] = load(y, y_rows[n], begin + i);
      }
#pragma unroll
      for (int i = 0; i < kTogether && begin + i < kSteps; ++i) {
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n) {
          add_load(sum[n], kept[begin + i], of_y[i][n], begin + i);
        }
      }
    }
  }

  /// Every entry loads its own row of X from L1. Unless most entries take this path (kMixes), with
  /// half as many loads in flight, to save registers.
  __device__ void add_own_rows(Sums& sum, Indices y_rows, Indices x_rows) const {
    constexpr int kLoads = kMixes ? kTogether : kTogether / 2;
#pragma unroll(kMixes || sizeof(Load) < 16 ? kSteps : 1)
    for (int begin = 0; begin < kSteps; begin += kLoads) {
      Load of_x[kLoads][kAtOnce], of_y[kLoads][kAtOnce];
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        if (kSteps % kLoads != 0 && begin + i >= kSteps) continue;
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n) {
          of_y[i][n] = load(y, y_rows[n], begin + i);
          of_x[i][n] = load(x, x_rows[n], begin + i);
        }
      }
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        if (kSteps % kLoads != 0 && begin + i >= kSteps) continue;
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n) add_load(sum[n], of_x[i][n], of_y[i][n], begin + i);
      }
    }
  }

  /// Loads a row of X only where it differs from the entry before.
  __device__ void add_new_rows(Sums& sum, Indices y_rows, Indices x_rows) {
    Load of_y[kAtOnce], of_x[kAtOnce];
    bool is_new[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) of_y[n] = load(y, y_rows[n], 0);
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      is_new[n] = x_rows[n] != (n > 0 ? x_rows[n - 1] : kept_row);
      if (is_new[n]) of_x[n] = load(x, x_rows[n], 0);
    }
    kept_row = x_rows[kAtOnce - 1];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      if (is_new[n]) kept[0] = of_x[n];
      add_load(sum[n], kept[0], of_y[n], 0);
    }
  }
};

/// The rest of wide rows, after their last whole slice. X comes from L1. A lane without columns
/// uses zeros.
template <class T, class Bytes, int kLanes, int kWidth>
struct Rest {
  using Load = typename detail::Word<sizeof(T) * kWidth>::type;
  static constexpr int kTogether = 16 / sizeof(Load) < 4 ? 16 / sizeof(Load) : 4;
  Rows<T, Bytes> x, y;
  Index first, cols;

  __device__ void add(SumOf<T> (&sum)[kAtOnce], const int4& y_rows, const int4& x_rows) const {
    const Index of_y_rows[kAtOnce] = {y_rows.x, y_rows.y, y_rows.z, y_rows.w};
    const Index of_x_rows[kAtOnce] = {x_rows.x, x_rows.y, x_rows.z, x_rows.w};
#pragma unroll 1
    for (Index col = first; col < cols; col += kTogether * kLanes * kWidth) {
      Load of_x[kTogether][kAtOnce], of_y[kTogether][kAtOnce];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const Index at = col + i * kLanes * kWidth;
        const bool is_there = i == 0 || at < cols;
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n) {
          of_x[i][n] = is_there ? load_word<Load>(x.at(of_x_rows[n], at)) : Load{};
          of_y[i][n] = is_there ? load_word<Load>(y.at(of_y_rows[n], at)) : Load{};
        }
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n) {
          sum[n] = add_products<T, kWidth>(sum[n], of_x[i][n], of_y[i][n]);
        }
      }
    }
    __syncwarp();
  }
};

}  // namespace csrkit::gpu::sddmm
