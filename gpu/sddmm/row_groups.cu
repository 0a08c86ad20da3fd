// row_groups: a group of 4 to 32 lanes makes a piece of 32 neighbouring entries.
// Owns     a lane: some columns of every inner product of its group; a group: 32 entries, whatever
//          rows they are in; a block: 256 lanes
// Reads    the row of X of the entries at hand once, into registers where K allows it (else from
//          L1, for four entries at a time); four rows of Y at once, 16 bytes a lane where K, the
//          leading dimensions and the addresses allow it, else fewer
// Launch   as many groups as pieces; a group has as many lanes as a row of X has loads, at most a
//          warp
// Needs    4 bytes for every piece: the row of its first entry, which the analysis finds
// Against  cusparseSDDMM. Every entry has one order of summation, which depends on K and the width
//          of the loads; so the bits are the same for any cut

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/sddmm/plan.h"

namespace csrkit::gpu::sddmm {

namespace {

constexpr int kThreads = 256;
constexpr Offset kPiece = 32;
/// Entries of a row whose products are made side by side.
constexpr int kAtOnce = 4;
constexpr int kFewestLanes = 4;
static_assert(kFewestLanes >= kAtOnce, "a lane stores an entry");
/// Loads of a row of X that a lane keeps in registers; of longer rows none.
constexpr int kMostKept = 4;

Offset pieces_of(Offset nnz) { return (nnz + kPiece - 1) / kPiece; }

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
    find_rows_of_pieces(DeviceCsrView<void> a, Offset pieces, Index* rows) {
  const Offset piece = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (piece < pieces) rows[piece] = row_of_entry(a, piece * kPiece, 0);
}

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Element `item` of every pack times its partner, added up one after the other.
template <class T, int kWidth>
__device__ SumOf<T> add_products(SumOf<T> sum, const Pack<T, kWidth>& x, const Pack<T, kWidth>& y) {
#pragma unroll
  for (int item = 0; item < kWidth; ++item) {
    sum = fma(widen<SumOf<T>>(x.item[item]), widen<SumOf<T>>(y.item[item]), sum);
  }
  return sum;
}

/// kWidth elements a load. A lane has kSteps loads of every row, or any number for kSteps = 0.
template <class T, int kLanes, int kWidth, int kSteps>
__global__ void __launch_bounds__(kThreads)
    dots_of_pieces(DeviceCsrView<void> a, DeviceDenseView<const T> x, DeviceDenseView<const T> y,
                   const Index* rows_of_pieces, Offset pieces, Ends ends) {
  using Accumulate = SumOf<T>;
  constexpr int kKept = kSteps > 0 ? kSteps : 1;
  constexpr Index kStride = kLanes * kWidth;
  const Offset piece = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  if (piece >= pieces) return;  // all lanes of a group together
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned group = lanes_of_group<kLanes>();
  const Index first_col = lane * kWidth;
  const Offset end = min((piece + 1) * kPiece, a.nnz);
  Offset at = piece * kPiece;
  Index row = rows_of_pieces[piece];
  while (at < end) {
    if (a.row_end(row) <= at) row = row_of_entry(a, at, row);
    const Offset stop = min(a.row_end(row), end);
    const T* const of_x = x.data + Offset{row} * x.leading_dim;
    Pack<T, kWidth> kept[kKept] = {};
    if constexpr (kSteps > 0) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        const Index col = first_col + step * kStride;
        if (col < x.cols) kept[step] = load_kept<kWidth>(of_x + col);
      }
    }
    for (; at < stop; at += kAtOnce) {
      const T* of_y[kAtOnce];
      Accumulate sum[kAtOnce];
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        // Behind the row's end the last entry stands in; what comes of it is not stored.
        of_y[n] = y.data + Offset{__ldg(a.col_indices + min(at + n, stop - 1))} * y.leading_dim;
        sum[n] = 0;
      }
      if constexpr (kSteps > 0) {
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
          const Index col = first_col + step * kStride;
          if (col < x.cols) {
#pragma unroll
            for (int n = 0; n < kAtOnce; ++n) {
              sum[n] = add_products(sum[n], kept[step], load_kept<kWidth>(of_y[n] + col));
            }
          }
        }
      } else {
        for (Offset col = first_col; col < x.cols; col += kStride) {
          const Pack<T, kWidth> of_row = load_kept<kWidth>(of_x + col);
#pragma unroll
          for (int n = 0; n < kAtOnce; ++n) {
            sum[n] = add_products(sum[n], of_row, load_kept<kWidth>(of_y[n] + col));
          }
        }
      }
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
#pragma unroll
        for (int distance = kLanes / 2; distance > 0; distance /= 2) {
          sum[n] += __shfl_xor_sync(group, sum[n], distance, kLanes);
        }
      }
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        if (lane == n && at + n < stop) store_entry(ends, at + n, sum[n]);
      }
    }
    at = stop;
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
    return static_cast<std::uint64_t>(pieces_of(problem.a.nnz())) * sizeof(Index);
  }

  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) override {
    const Offset pieces = pieces_of(a.nnz);
    const auto blocks = static_cast<unsigned>((pieces + kThreads - 1) / kThreads);
    find_rows_of_pieces<<<blocks, kThreads, 0, stream>>>(a, pieces, static_cast<Index*>(workspace));
    CHECK_LAUNCH("find_rows_of_pieces", stream);
  }

  void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void* workspace,
              cudaStream_t stream) override {
    const Launch given{a, call, static_cast<const Index*>(workspace), stream};
    constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
    const auto fits = [&](int width) {
      return has_loads_of(call.x, width) && has_loads_of(call.y, width);
    };
    if (fits(kWidest)) return with_width<kWidest>(given);
    if constexpr (sizeof(T) == 2) {
      if (fits(2)) return with_width<2>(given);
    }
    with_width<1>(given);
  }

 private:
  struct Launch {
    const DeviceCsrView<void>& a;
    const DeviceCall& call;
    const Index* rows_of_pieces;
    cudaStream_t stream;
  };

  template <int kWidth>
  void with_width(const Launch& given) const {
    const Index loads = given.call.x.cols / kWidth;  // of a row
    if (loads <= 4) return with_shape<4, kWidth, 1>(given);
    if (loads <= 8) return with_shape<8, kWidth, 1>(given);
    if (loads <= 16) return with_shape<16, kWidth, 1>(given);
    if (loads <= kWarpLanes) return with_shape<kWarpLanes, kWidth, 1>(given);
    if (loads <= 2 * kWarpLanes) return with_shape<kWarpLanes, kWidth, 2>(given);
    if (loads <= kMostKept * kWarpLanes) return with_shape<kWarpLanes, kWidth, kMostKept>(given);
    with_shape<kWarpLanes, kWidth, 0>(given);
  }

  template <int kLanes, int kWidth, int kSteps>
  void with_shape(const Launch& given) const {
    const DeviceCall& call = given.call;
    const Offset pieces = pieces_of(given.a.nnz);
    constexpr Offset kGroups = kThreads / kLanes;
    const Ends ends{a_kind_, given.a.values, call.c.kind, call.c.data, call.alpha, call.beta};
    const DeviceDenseView<const T> x{call.x.as<T>(), call.x.rows, call.x.cols, call.x.leading_dim};
    const DeviceDenseView<const T> y{call.y.as<T>(), call.y.rows, call.y.cols, call.y.leading_dim};
    dots_of_pieces<T, kLanes, kWidth, kSteps>
        <<<static_cast<unsigned>((pieces + kGroups - 1) / kGroups), kThreads, 0, given.stream>>>(
            given.a, x, y, given.rows_of_pieces, pieces, ends);
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
