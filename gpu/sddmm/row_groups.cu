// row_groups: a group of 4 to 16 lanes makes four entries at a time, whatever rows they are in.
// Owns     a lane: some columns of every inner product of its group; a group: a piece of 16 or 32
//          neighbouring entries, one four after the other; a block: 256 lanes
// Reads    four rows of Y at once, 16 bytes a lane where K, the leading dimensions and the
//          addresses allow it, else fewer. The row of X is kept as long as all groups of a warp
//          have entries of one row each; else it comes from L1, for every entry, or, where rows are
//          one load a lane, for every new row. Rows of more than 64 loads are read in slices of 512
//          bytes, fewer where loads are narrower than 8 bytes, all entries of a piece for one slice
//          before the next, so that L1 holds more rows of Y
// Launch   as many groups as pieces; all pieces are equal, so rows need no balance. Where rows are
//          long and wide, pieces go in the order of their first column: those at work at a time
//          then read the same part of Y, whichever rows they are of
// Needs    4 bytes for every entry: its row, which the analysis finds; about one more where pieces
//          are sorted
// Against  cusparseSDDMM. Every entry has one order of summation, which depends on K, the width of
//          the loads and whether rows lie 4 GiB apart; so the bits are the same for any cut and any
//          order of pieces

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "gpu/device/cuda_check.h"
#include "gpu/sddmm/entry.cuh"
#include "gpu/sddmm/plan.h"
#include "gpu/sddmm/slice.cuh"

namespace csrkit::gpu::sddmm {

namespace {

constexpr int kThreads = 256;
/// Most of them one after the other, four at a time.
constexpr int kMaxTurns = 8;

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

/// Four entries of a group, and what they come to.
template <class T>
struct Turn {
  int4 cols, rows;
  SumOf<T> sums[kAtOnce];
};

/// Pieces of the groups of a block; the ninth turn is never used: with it, groups of a warp have
/// banks of their own (f64 with four groups: two and two share).
template <class T>
using Piece = Turn<T>[kMaxTurns + 1];

/// Columns and rows of a group's entries, all asked for at once; behind the last entry of A that
/// one stands in.
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

/// Adds some columns' products to the sums of all turns.
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

/// Pieces of entries: each group takes one, in `order`, if there is one.
struct Pieces {
  int turns;
  Index count;
  const Index* order;

  /// The first entry of a group's piece; behind all entries where there is none.
  __device__ Offset begin(Offset group, Offset nnz) const {
    if (group >= count) return nnz;
    return (order == nullptr ? group : order[group]) * turns * kAtOnce;
  }
};

/// Columns and rows of four entries, asked for while others are at work.
struct Four {
  int4 cols, rows;

  /// Behind the last entry that one stands in; what comes of it is not stored.
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

/// Of rows that are one load a lane: so little work that places come as registers.
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

/// kWidth elements a load. Rows are one slice of kSteps loads a lane; with kSlices, any number of
/// whole ones and a rest. kMixes: most entries have other rows than their neighbours; registers for
/// all their loads are worth a third of the warps.
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

/// The first column of every piece, and its number.
__global__ void __launch_bounds__(kThreads)
    number_pieces(const Index* cols, int entries, Index count, Index* first_cols, Index* numbers) {
  const Index piece = static_cast<Index>(blockIdx.x * kThreads + threadIdx.x);
  if (piece >= count) return;
  first_cols[piece] = cols[Offset{piece} * entries];
  numbers[piece] = piece;
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
      : a_kind_(problem.multiplies_by_a ? problem.a.value_kind() : ValueKind::none),
        nnz_(problem.a.nnz()),
        sorts_pieces_(nnz_ >= kLongRow * Offset{problem.a.rows()} && nnz_ >= kManyEntries &&
                      problem.dense_cols * static_cast<Offset>(sizeof(T)) > 128),
        has_short_rows_(nnz_ < kShortRow * Offset{problem.a.rows()}) {
    if (sorts_pieces_) sort_pieces(nullptr, sort_bytes_, {}, nullptr);
  }

  std::uint64_t workspace_bytes(const SddmmProblem&) const override {
    return order_at() + (sorts_pieces_ ? 4 * piece_array_bytes() + sort_bytes_ : 0);
  }

  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) override {
    const auto blocks = static_cast<unsigned>((a.nnz + kThreads - 1) / kThreads);
    find_rows_of_entries<<<blocks, kThreads, 0, stream>>>(a, static_cast<Index*>(workspace));
    CHECK_LAUNCH("find_rows_of_entries", stream);
    if (!sorts_pieces_) return;
    auto* const bytes = static_cast<std::byte*>(workspace) + order_at();
    const auto array = [&](int i) {
      return reinterpret_cast<Index*>(bytes + i * piece_array_bytes());
    };
    const SortedArrays arrays{array(1), array(2), array(3), array(0)};
    const auto piece_blocks = static_cast<unsigned>((pieces() + kThreads - 1) / kThreads);
    number_pieces<<<piece_blocks, kThreads, 0, stream>>>(a.col_indices, turns() * kAtOnce, pieces(),
                                                         arrays.cols, arrays.numbers);
    CHECK_LAUNCH("number_pieces", stream);
    std::size_t sort_bytes = sort_bytes_;
    sort_pieces(array(4), sort_bytes, arrays, stream);
  }

  void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void* workspace,
              cudaStream_t stream) override {
    const Launch given{a, call, static_cast<const Index*>(workspace), stream};
    constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
    const auto fits = [&](int width) {
      return has_loads_of(call.x, width) && has_loads_of(call.y, width);
    };
    constexpr std::uint64_t kFar = std::uint64_t{1} << 32;
    if (Rows<T>::bytes_between(call.x) >= kFar || Rows<T>::bytes_between(call.y) >= kFar) {
      return with_rows<std::uint64_t, 16, 1, 4, true, true>(given);
    }
    if (fits(kWidest)) return with_width<kWidest>(given);
    if constexpr (sizeof(T) < 8) {
      if (fits(2)) return with_width<2>(given);
    }
    with_width<1>(given);
  }

 private:
  // Entries a row, on average. Measured: docs/lab/2026-11-26-sddmm-why.md.
  static constexpr Offset kShortRow = 32;  // below, the four entries are mostly of several rows
  static constexpr Offset kLongRow = 64;   // from here on pieces are sorted
  /// Fewer entries than this are at work all at once, in any order.
  static constexpr Offset kManyEntries = 1 << 14;

  struct Launch {
    const DeviceCsrView<void>& a;
    const DeviceCall& call;
    const Index* rows;
    cudaStream_t stream;
  };
  struct SortedArrays {
    Index *cols, *sorted_cols, *numbers, *order;
  };

  /// Short pieces occupy the device where there are few entries.
  int turns() const { return nnz_ < (Offset{1} << 20) ? kMaxTurns / 2 : kMaxTurns; }
  Index pieces() const {
    const Offset entries = turns() * kAtOnce;
    return static_cast<Index>((nnz_ + entries - 1) / entries);
  }
  static std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }
  std::uint64_t order_at() const {
    return aligned(static_cast<std::uint64_t>(nnz_) * sizeof(Index));
  }
  std::uint64_t piece_array_bytes() const {
    return aligned(static_cast<std::uint64_t>(pieces()) * sizeof(Index));
  }

  void sort_pieces(void* scratch, std::size_t& bytes, const SortedArrays& arrays,
                   cudaStream_t stream) const {
    CHECK_CUDA(cub::DeviceRadixSort::SortPairs(scratch, bytes, arrays.cols, arrays.sorted_cols,
                                               arrays.numbers, arrays.order, pieces(), 0,
                                               static_cast<int>(8 * sizeof(Index)), stream));
  }

  /// Measured: docs/lab/2026-11-23-sddmm-h200.md, docs/lab/2026-11-26-sddmm-why.md.
  template <int kWidth>
  void with_width(const Launch& given) const {
    const Index loads = given.call.x.cols / kWidth;  // of a row
    constexpr int kStepsOfSlice = kWidth * sizeof(T) == 16 ? 2 : 4;
    if (loads <= 4) return with_narrow_rows<4, kWidth>(given);
    if (loads <= 8) return with_narrow_rows<8, kWidth>(given);
    if (loads <= 16) return with_steps<8, kWidth, 2>(given);
    if (loads <= 32) return with_steps<16, kWidth, 2>(given);
    if (loads <= 48) return with_steps<16, kWidth, 3>(given);
    if (loads <= 64) return with_steps<16, kWidth, 4>(given);
    with_rows<std::uint32_t, 16, kWidth, kStepsOfSlice, true, true>(given);
  }

  template <int kLanes, int kWidth>
  void with_narrow_rows(const Launch& given) const {
    if constexpr (kWidth * sizeof(T) == 16) {
      if (given.call.x.cols == kLanes * kWidth) return launch_narrow<kLanes, kWidth, true>(given);
    }
    launch_narrow<kLanes, kWidth, false>(given);
  }

  template <int kLanes, int kWidth, int kSteps>
  void with_steps(const Launch& given) const {
    if constexpr (kWidth * sizeof(T) == 16) {
      if (given.call.x.cols == kLanes * kWidth * kSteps) {
        return with_rows<std::uint32_t, kLanes, kWidth, kSteps, true, false>(given);
      }
    }
    with_rows<std::uint32_t, kLanes, kWidth, kSteps, false, false>(given);
  }

  template <class Bytes, int kLanes, int kWidth, int kSteps, bool kIsFull, bool kSlices>
  void with_rows(const Launch& given) const {
    if constexpr (kWidth * sizeof(T) == 16) {
      if (has_short_rows_) {
        return launch_pieces<Bytes, kLanes, kWidth, kSteps, kIsFull, kSlices, true>(given);
      }
    }
    launch_pieces<Bytes, kLanes, kWidth, kSteps, kIsFull, kSlices, false>(given);
  }

  Ends ends_of(const Launch& given) const {
    const DeviceCall& call = given.call;
    return {a_kind_, given.a.values, call.c.kind, call.c.data, call.alpha, call.beta};
  }

  template <int kLanes, int kWidth, bool kIsFull>
  void launch_narrow(const Launch& given) const {
    const DeviceCall& call = given.call;
    const Offset of_block = Offset{kThreads / kLanes} * turns() * kAtOnce;
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(given.a.col_indices) % sizeof(int4) == 0;
    dots_of_narrow_rows<T, kLanes, kWidth, kIsFull>
        <<<static_cast<unsigned>((nnz_ + of_block - 1) / of_block), kThreads, 0, given.stream>>>(
            given.a, Rows<T>(call.x), Rows<T>(call.y), call.x.cols, given.rows, turns(), is_aligned,
            ends_of(given));
    CHECK_LAUNCH("dots_of_narrow_rows", given.stream);
  }

  template <class Bytes, int kLanes, int kWidth, int kSteps, bool kIsFull, bool kSlices,
            bool kMixes>
  void launch_pieces(const Launch& given) const {
    const DeviceCall& call = given.call;
    constexpr Index kGroups = kThreads / kLanes;
    const auto* const bytes = reinterpret_cast<const std::byte*>(given.rows) + order_at();
    const Pieces all{turns(), pieces(),
                     sorts_pieces_ ? reinterpret_cast<const Index*>(bytes) : nullptr};
    dots_of_pieces<T, Bytes, kLanes, kWidth, kSteps, kIsFull, kSlices, kMixes>
        <<<static_cast<unsigned>((all.count + kGroups - 1) / kGroups), kThreads, 0, given.stream>>>(
            given.a, Rows<T, Bytes>(call.x), Rows<T, Bytes>(call.y), call.x.cols, given.rows, all,
            ends_of(given));
    CHECK_LAUNCH("dots_of_pieces", given.stream);
  }

  ValueKind a_kind_;
  Offset nnz_;
  bool sorts_pieces_, has_short_rows_;
  std::size_t sort_bytes_ = 0;
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
