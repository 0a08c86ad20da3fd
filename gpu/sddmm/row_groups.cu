// row_groups: a group of 4 to 16 lanes makes four neighbouring entries at a time, whatever rows
// they are in.
// Owns     a lane: some columns of every inner product of its group; a group: 16 or 32 entries, one
//          four after the other; a block: 256 lanes
// Reads    four rows of Y at once, 16 bytes a lane where K, the leading dimensions and the
//          addresses allow it, else fewer. The row of X is kept as long as it is the same where a
//          lane has one load of it; wider rows come from L1 for every entry, as registers for
//          several loads would cost more warps than that
// Launch   as many groups as pieces of entries; all pieces are equal, so rows need no balance
// Needs    4 bytes for every entry: its row, which the analysis finds
// Against  cusparseSDDMM. Every entry has one order of summation, which depends on K and the width
//          of the loads; so the bits are the same for any cut

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/sddmm/plan.h"

namespace csrkit::gpu::sddmm {

namespace {

constexpr int kThreads = 256;
/// Entries whose products a group makes side by side.
constexpr int kAtOnce = 4;

/// What stands beside the inner products.
struct Ends {
  ValueKind a_kind;  // none: the factor is 1
  const void* a_values;
  ValueKind c_kind;
  void* c;
  double alpha, beta;
};

template <class Accumulate>
__device__ Accumulate factor_at(const Ends& ends, Offset at) {
  switch (ends.a_kind) {
    case ValueKind::f32: return widen<Accumulate>(static_cast<const float*>(ends.a_values)[at]);
    case ValueKind::f16: return widen<Accumulate>(static_cast<const f16*>(ends.a_values)[at]);
    case ValueKind::bf16: return widen<Accumulate>(static_cast<const bf16*>(ends.a_values)[at]);
    case ValueKind::f64:
      return static_cast<Accumulate>(static_cast<const double*>(ends.a_values)[at]);
    default: return 1;
  }
}

template <class Output, class Accumulate>
__device__ void store_as_kind(const Ends& ends, Offset at, Accumulate scaled) {
  Output* const to = static_cast<Output*>(ends.c) + at;
  if (ends.beta != 0) scaled += static_cast<Accumulate>(ends.beta) * widen<Accumulate>(*to);
  *to = Narrow<Output>::of(scaled);
}

template <class Accumulate>
__device__ void store_entry(const Ends& ends, Offset at, Accumulate dot) {
  if (ends.a_kind != ValueKind::none) dot = factor_at<Accumulate>(ends, at) * dot;
  const Accumulate scaled = static_cast<Accumulate>(ends.alpha) * dot;
  if constexpr (std::is_same_v<Accumulate, double>) {
    store_as_kind<double>(ends, at, scaled);
  } else if (ends.c_kind == ValueKind::f16) {
    store_as_kind<f16>(ends, at, scaled);
  } else if (ends.c_kind == ValueKind::bf16) {
    store_as_kind<bf16>(ends, at, scaled);
  } else {
    store_as_kind<float>(ends, at, scaled);
  }
}

/// The row of entry `at`, which is not above `row`.
__device__ Index row_of_entry(const DeviceCsrView<void>& a, Offset at, Index row) {
  Index low = row, high = a.rows;  // row_begin(low) <= at < row_begin(high)
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    if (a.row_begin(middle) <= at) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

__global__ void __launch_bounds__(kThreads)
    find_rows_of_entries(DeviceCsrView<void> a, Index* rows) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at < a.nnz) rows[at] = row_of_entry(a, at, 0);
}

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class Word>
__device__ Word load_word(const void* from) {
  return __ldg(static_cast<const Word*>(from));
}

/// Element `item` of every load times its partner, added up one after the other.
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

/// Of four sums of every lane: the lanes of a quarter of the group get the whole of one of them,
/// the first quarter that of the first. All are added up in the same order.
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

/// Rows and columns of the entries at hand.
struct Places {
  Index row[kAtOnce], col[kAtOnce];

  /// Behind the last entry that one stands in; what comes of it is not stored.
  __device__ void load(const Index* rows, const Index* cols, bool is_aligned, Offset at,
                       Offset nnz) {
    if (is_aligned && at + kAtOnce <= nnz) {
      const int4 four_rows = __ldg(reinterpret_cast<const int4*>(rows + at));
      const int4 four_cols = __ldg(reinterpret_cast<const int4*>(cols + at));
      memcpy(row, &four_rows, sizeof four_rows);
      memcpy(col, &four_cols, sizeof four_cols);
    } else {
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        const Offset entry = min(at + n, nnz - 1);
        row[n] = __ldg(rows + entry);
        col[n] = __ldg(cols + entry);
      }
    }
  }
};

/// The products of a lane's columns of four rows of Y, one load each, and of X, whose row is kept
/// until another one comes.
template <class T, int kWidth>
struct OneLoad {
  using Load = typename detail::Word<sizeof(T) * kWidth>::type;
  Load kept = {};
  Index kept_row = -1;

  template <class Next>
  __device__ void add(SumOf<T> (&sum)[kAtOnce], const DeviceDenseView<const T>& x,
                      const DeviceDenseView<const T>& y, Index col, const Places& at,
                      const Next& next) {
    Load of_x[kAtOnce] = {}, of_y[kAtOnce] = {};
    bool is_new[kAtOnce];
    if (col < x.cols) {
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        of_y[n] = load_word<Load>(y.data + Offset{at.col[n]} * y.leading_dim + col);
      }
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      is_new[n] = at.row[n] != (n > 0 ? at.row[n - 1] : kept_row);
      if (is_new[n] && col < x.cols) {
        of_x[n] = load_word<Load>(x.data + Offset{at.row[n]} * x.leading_dim + col);
      }
    }
    kept_row = at.row[kAtOnce - 1];
    next();
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      if (is_new[n]) kept = of_x[n];
      sum[n] = add_products<T, kWidth>(sum[n], kept, of_y[n]);
    }
  }
};

/// The same with any number of loads, `stride` columns apart. X comes from L1, once where the four
/// entries of every group of the warp are in one row, else for every entry, which costs less than
/// registers for several loads.
template <class T, int kWidth, int kSteps>
struct SeveralLoads {
  using Load = typename detail::Word<sizeof(T) * kWidth>::type;
  /// Loads of a row that are asked for before the first is used: narrow ones are many, and bring
  /// little each.
  static constexpr int kTogether = sizeof(Load) <= 4 ? 4 : sizeof(Load) <= 8 ? 2 : 1;

  struct Rows {
    const T *of_x[kAtOnce], *of_y[kAtOnce];
    Index cols, stride;
  };

  template <bool kInOneRow>
  __device__ static void add_some(SumOf<T> (&sum)[kAtOnce], const Rows& rows, Index col) {
    if (col >= rows.cols) return;
    constexpr int kRows = kInOneRow ? 1 : kAtOnce;
    Load from_y[kTogether][kAtOnce], from_x[kTogether][kRows];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const Index at = col + i * rows.stride;
      const bool is_there = i == 0 || at < rows.cols;
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        from_y[i][n] = is_there ? load_word<Load>(rows.of_y[n] + at) : Load{};
      }
#pragma unroll
      for (int n = 0; n < kRows; ++n) {
        from_x[i][n] = is_there ? load_word<Load>(rows.of_x[n] + at) : Load{};
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        sum[n] = add_products<T, kWidth>(sum[n], from_x[i][kInOneRow ? 0 : n], from_y[i][n]);
      }
    }
  }

  template <bool kInOneRow>
  __device__ static void add_all(SumOf<T> (&sum)[kAtOnce], const Rows& rows, Index first_col) {
    if constexpr (kSteps > 0) {
#pragma unroll
      for (int i = 0; i < kSteps; i += kTogether) {
        add_some<kInOneRow>(sum, rows, first_col + i * rows.stride);
      }
    } else {
#pragma unroll(kTogether == 1 ? 2 : 1)
      for (Index col = first_col; col < rows.cols; col += kTogether * rows.stride) {
        add_some<kInOneRow>(sum, rows, col);
      }
      __syncwarp();
    }
  }

  template <class Next>
  __device__ void add(SumOf<T> (&sum)[kAtOnce], const DeviceDenseView<const T>& x,
                      const DeviceDenseView<const T>& y, Index first_col, Index stride,
                      const Places& at, const Next& next) {
    Rows rows;
    rows.cols = x.cols;
    rows.stride = stride;
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      rows.of_x[n] = x.data + Offset{at.row[n]} * x.leading_dim;
      rows.of_y[n] = y.data + Offset{at.col[n]} * y.leading_dim;
    }
    next();
    if (__all_sync(kAllLanes, at.row[0] == at.row[kAtOnce - 1])) {
      add_all<true>(sum, rows, first_col);
    } else {
      add_all<false>(sum, rows, first_col);
    }
  }
};

/// kWidth elements a load; a lane has kSteps loads of every row, or any number for kSteps = 0.
template <class T, int kLanes, int kWidth, int kSteps>
__global__ void __launch_bounds__(kThreads, kSteps == 1 ? 4 : 3)
    dots_of_pieces(DeviceCsrView<void> a, DeviceDenseView<const T> x, DeviceDenseView<const T> y,
                   const Index* rows, int turns, bool is_aligned, Ends ends) {
  const Offset group = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Index col = lane * kWidth;
  Offset at = group * turns * kAtOnce;
  Places places;
  places.load(rows, a.col_indices, is_aligned, at, a.nnz);
  std::conditional_t<kSteps == 1, OneLoad<T, kWidth>, SeveralLoads<T, kWidth, kSteps>> loads;
  for (int turn = 0; turn < turns; ++turn, at += kAtOnce) {
    SumOf<T> sum[kAtOnce] = {};
    const Places here = places;
    const auto next = [&] { places.load(rows, a.col_indices, is_aligned, at + kAtOnce, a.nnz); };
    if constexpr (kSteps == 1) {
      loads.add(sum, x, y, col, here, next);
    } else {
      loads.add(sum, x, y, col, kLanes * kWidth, here, next);
    }
    const SumOf<T> own = add_lanes<kLanes>(sum, lane);
    const Offset entry = at + lane / (kLanes / kAtOnce);
    if (lane % (kLanes / kAtOnce) == 0 && entry < a.nnz) store_entry(ends, entry, own);
  }
}

/// Whether every row of the operand can be read by loads of so many elements.
bool has_loads_of(const ConstDenseView& view, int elements) {
  const auto bytes =
      static_cast<std::uintptr_t>(elements) * static_cast<std::uintptr_t>(size_of(view.kind));
  return view.cols % elements == 0 && (view.rows <= 1 || view.leading_dim % elements == 0) &&
         reinterpret_cast<std::uintptr_t>(view.data) % bytes == 0;
}

template <class T>
class RowGroups final : public DeviceSddmm {
 public:
  explicit RowGroups(const SddmmProblem& problem)
      : a_kind_(problem.multiplies_by_a ? problem.a.value_kind() : ValueKind::none) {}

  std::uint64_t workspace_bytes(const SddmmProblem& problem) const override {
    return static_cast<std::uint64_t>(problem.a.nnz()) * sizeof(Index);
  }

  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) override {
    const auto blocks = static_cast<unsigned>((a.nnz + kThreads - 1) / kThreads);
    find_rows_of_entries<<<blocks, kThreads, 0, stream>>>(a, static_cast<Index*>(workspace));
    CHECK_LAUNCH("find_rows_of_entries", stream);
  }

  void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void* workspace,
              cudaStream_t stream) override {
    const Launch given{a, call, static_cast<const Index*>(workspace), stream};
    constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
    const auto fits = [&](int width) {
      return has_loads_of(call.x, width) && has_loads_of(call.y, width);
    };
    if (fits(kWidest)) return with_width<kWidest>(given);
    if constexpr (sizeof(T) < 8) {
      if (fits(2)) return with_width<2>(given);
    }
    with_width<1>(given);
  }

 private:
  struct Launch {
    const DeviceCsrView<void>& a;
    const DeviceCall& call;
    const Index* rows;
    cudaStream_t stream;
  };

  /// Measured: docs/lab/2026-11-23-sddmm-h200.md.
  template <int kWidth>
  void with_width(const Launch& given) const {
    const Index loads = given.call.x.cols / kWidth;  // of a row
    if (loads <= 4) return with_shape<4, kWidth, 1>(given);
    if (loads <= 8) return with_shape<8, kWidth, 1>(given);
    if (loads <= 16) return with_shape<8, kWidth, 2>(given);
    if (loads <= 32) return with_shape<16, kWidth, 2>(given);
    if (loads <= 64) return with_shape<16, kWidth, 4>(given);
    with_shape<16, kWidth, 0>(given);
  }

  /// Turns of a group: short pieces occupy the device where there are few entries.
  static int turns_for(Offset nnz) { return nnz < (Offset{1} << 20) ? 4 : 8; }

  template <int kLanes, int kWidth, int kSteps>
  void with_shape(const Launch& given) const {
    const DeviceCall& call = given.call;
    constexpr Offset kGroups = kThreads / kLanes;
    const int turns = turns_for(given.a.nnz);
    const Offset of_block = kGroups * turns * kAtOnce;
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(given.a.col_indices) % sizeof(int4) == 0;
    const Ends ends{a_kind_, given.a.values, call.c.kind, call.c.data, call.alpha, call.beta};
    const DeviceDenseView<const T> x{call.x.as<T>(), call.x.rows, call.x.cols, call.x.leading_dim};
    const DeviceDenseView<const T> y{call.y.as<T>(), call.y.rows, call.y.cols, call.y.leading_dim};
    dots_of_pieces<T, kLanes, kWidth, kSteps>
        <<<static_cast<unsigned>((given.a.nnz + of_block - 1) / of_block), kThreads, 0,
           given.stream>>>(given.a, x, y, given.rows, turns, is_aligned, ends);
    CHECK_LAUNCH("dots_of_pieces", given.stream);
  }

  ValueKind a_kind_;
};

}  // namespace

std::unique_ptr<DeviceSddmm> make_device_row_groups(const SddmmProblem& problem) {
  switch (problem.x) {
    case ValueKind::f64: return std::make_unique<RowGroups<double>>(problem);
    case ValueKind::f16: return std::make_unique<RowGroups<f16>>(problem);
    case ValueKind::bf16: return std::make_unique<RowGroups<bf16>>(problem);
    default: return std::make_unique<RowGroups<float>>(problem);
  }
}

}  // namespace csrkit::gpu::sddmm
