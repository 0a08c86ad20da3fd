// row_groups: a group of 4 to 16 lanes computes four entries at a time, whatever rows they are in.
// Owns     a lane: some columns of every inner product of its group; a group: a piece of 16 or 32
//          neighbouring entries, one four after the other; a block: 256 lanes
// Reads    four rows of Y at once, 16 bytes a lane where K, the leading dimensions and the
//          addresses allow it, else fewer. A row of X stays in registers while every group of the
//          warp has four entries of one row. Else it is read from L1 for every entry or, where a
//          row is one load a lane, for every new row. Rows of more than 64 loads are read in slices
//          of 512 bytes (shorter where loads are narrower than 8 bytes): all entries of a piece
//          take one slice before the next, so that L1 holds more rows of Y
// Launch   as many groups as pieces; all pieces are equal, so rows need no balance. Where rows are
//          long and wide, pieces are sorted by their first column: pieces that run at the same time
//          then read the same part of Y, whichever rows they belong to
// Needs    4 bytes for every entry (its row, found by the analysis), and about one more where
//          pieces are sorted
// Against  cusparseSDDMM. Every entry has one order of summation, which depends on K, the width of
//          the loads and whether rows lie 4 GiB apart; so the bits are the same for any cut and any
//          order of pieces

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/sddmm/piece_order.cuh"
#include "gpu/sddmm/pieces.cuh"
#include "gpu/sddmm/typed.cuh"

namespace csrkit::gpu::sddmm {

namespace {

/// The row of entry `at`, which is `row` or a later one.
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

/// The first column of every piece.
struct FirstColumns {
  const Index* cols;
  int entries;
  __device__ Index operator()(Index piece) const { return cols[Offset{piece} * entries]; }
};

template <class T>
class RowGroups final : public TypedSddmm {
 public:
  explicit RowGroups(const SddmmProblem& problem)
      : TypedSddmm(problem),
        nnz_(problem.a.nnz()),
        sorts_pieces_(nnz_ >= kMeanToSort * Offset{problem.a.rows()} && nnz_ >= kFewestToSort &&
                      problem.dense_cols * static_cast<Offset>(sizeof(T)) > 128),
        has_short_rows_(nnz_ < kMeanOfOneRow * Offset{problem.a.rows()}) {
    if (sorts_pieces_) order_ = PieceOrder(pieces());
  }

  std::uint64_t workspace_bytes(const SddmmProblem&) const override {
    return order_at() + (sorts_pieces_ ? order_.workspace_bytes() : 0);
  }

  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) override {
    const unsigned blocks = blocks_of(a.nnz, kThreads);
    find_rows_of_entries<<<blocks, kThreads, 0, stream>>>(a, static_cast<Index*>(workspace));
    CHECK_LAUNCH("find_rows_of_entries", stream);
    if (!sorts_pieces_) return;
    order_.find(FirstColumns{a.col_indices, turns() * kAtOnce},
                static_cast<std::byte*>(workspace) + order_at(), stream);
  }

  void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void* workspace,
              cudaStream_t stream) override {
    const Launch given{a, call, static_cast<const Index*>(workspace), stream};
    constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
    const auto fits = [&](int width) {
      return has_loads_of(call.x, width) && has_loads_of(call.y, width);
    };
    if (Rows<T>::are_far(call.x) || Rows<T>::are_far(call.y)) {
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
  static constexpr Offset kMeanOfOneRow = 32;  // below, the four entries are mostly of several rows
  static constexpr Offset kMeanToSort = 64;    // from this mean on pieces are sorted
  /// With fewer entries all pieces run at once, in any order.
  static constexpr Offset kFewestToSort = 1 << 14;

  struct Launch {
    const DeviceCsrView<void>& a;
    const DeviceCall& call;
    const Index* rows;
    cudaStream_t stream;
  };

  /// Few entries are cut into shorter pieces, to occupy the device.
  int turns() const { return nnz_ < (Offset{1} << 20) ? kMaxTurns / 2 : kMaxTurns; }
  Index pieces() const {
    const Offset entries = turns() * kAtOnce;
    return static_cast<Index>((nnz_ + entries - 1) / entries);
  }
  std::uint64_t order_at() const {
    return WorkspaceLayout::aligned(static_cast<std::uint64_t>(nnz_) * sizeof(Index));
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

  template <int kLanes, int kWidth, bool kIsFull>
  void launch_narrow(const Launch& given) const {
    const DeviceCall& call = given.call;
    const Offset of_block = Offset{kThreads / kLanes} * turns() * kAtOnce;
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(given.a.col_indices) % sizeof(int4) == 0;
    dots_of_narrow_rows<T, kLanes, kWidth, kIsFull>
        <<<blocks_of(nnz_, of_block), kThreads, 0, given.stream>>>(
            given.a, Rows<T>(call.x), Rows<T>(call.y), call.x.cols, given.rows, turns(), is_aligned,
            ends_of(given.a, call));
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
        <<<blocks_of(all.count, kGroups), kThreads, 0, given.stream>>>(
            given.a, Rows<T, Bytes>(call.x), Rows<T, Bytes>(call.y), call.x.cols, given.rows, all,
            ends_of(given.a, call));
    CHECK_LAUNCH("dots_of_pieces", given.stream);
  }

  Offset nnz_;
  bool sorts_pieces_, has_short_rows_;
  PieceOrder order_;
};

}  // namespace

std::unique_ptr<DeviceSddmm> make_device_row_groups(const SddmmProblem& problem) {
  return make_typed<RowGroups>(problem);
}

}  // namespace csrkit::gpu::sddmm
