// The device code of row_panels: the work of one group of lanes on one panel, or a part of one.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_panels/launch.cuh"
#include "gpu/spmm/row_tasks/sums.cuh"

namespace csrkit::gpu {

/// List entries in shared memory, one a lane, passed from the lane that read each to all lanes of
/// its group.
template <class Value, int kThreads>
struct StagedEntries {
  Pack<Value, kPanelRows> values[kThreads];
  alignas(16) Index cols[kThreads];
  alignas(16) std::uint8_t masks[kThreads];
};

/// One group of lanes and its columns: kWidth columns a lane, kLanes lanes, kPanelRows sums a
/// column. In pieces a lane has every kLanes-th column or pair of columns, else neighbours.
template <class Types, int kWidth, int kLanes, bool kScales, int kThreads, PanelOperands kOperands>
struct PanelGroup {
  static constexpr bool kPairs = kOperands == PanelOperands::pairs;
  static constexpr bool kPieces = kOperands == PanelOperands::pieces || kPairs;
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  /// Without scaling, launches guarantee that only a lane's last piece may miss.
  using Columns = Pieces<Types, kWidth, kPairs ? 2 : 1, kLanes, !kScales>;
  using Vector = std::conditional_t<kPieces, typename Columns::Elements, Pack<Value, kWidth>>;
  using Sum = Sums<Types, kWidth>;
  using Staged = StagedEntries<Value, kThreads>;
  static constexpr int kStep = kPanelAlign;  // entries whose rows of B are in flight together
  static_assert(kPanelRows <= 8, "a mask is a byte");

  const RowPanelsOperands<Types>& op;
  Staged& staged;
  int lane;
  const std::byte* b_column;  // this lane's columns in row 0 of B
  Index column;
  bool has_columns;
  Columns pieces;  // in pieces

  __device__ static PanelGroup of(const RowPanelsOperands<Types>& op, Staged& staged, int lane) {
    auto column = static_cast<Index>((blockIdx.y * kLanes + lane) * kWidth);
    bool has_columns = column < op.c.cols;
    Columns pieces{};
    if constexpr (kPieces) {
      pieces = Columns::of(op.slices, lane);
      column = pieces.column;
      has_columns = pieces.left > 0;
    }
    // Lanes beyond the last column read the first one, and drop the result.
    const Value* b_column = op.b.data + (has_columns ? column : 0);
    const auto* at = reinterpret_cast<const std::byte*>(b_column);
    return {op, staged, lane, at, column, has_columns, pieces};
  }

  struct Entry {
    Pack<Value, kPanelRows> values;
    Index col;
    unsigned mask;
  };
  /// Evicted first, by groups that read whole lines. Narrower groups read the rest of the line
  /// soon.
  template <class T>
  __device__ static T load_of_list(const T* from) {
    if constexpr (kLanes == 32) {
      return load_once(from);
    } else {
      return load_kept<1>(from).item[0];
    }
  }
  template <bool kHasValues>
  __device__ Entry load(Offset at) const {
    Entry entry;
    entry.col = load_of_list(op.lists.cols + at);
    entry.mask = kLanes == 32 ? __ldcs(op.lists.masks + at) : __ldg(op.lists.masks + at);
    if constexpr (kHasValues) {
      constexpr int kBytes = kPanelRows * static_cast<int>(sizeof(Value));
      constexpr int kPerWord = kBytes <= 16 ? kPanelRows : 16 / static_cast<int>(sizeof(Value));
      const auto* from = static_cast<const Value*>(op.lists.values) + at * kPanelRows;
#pragma unroll
      for (int i = 0; i < kPanelRows; i += kPerWord) {
        const auto word = load_of_list(reinterpret_cast<const Pack<Value, kPerWord>*>(from + i));
        memcpy(&entry.values.item[i], &word, sizeof word);
      }
    }
    return entry;
  }

  __device__ Vector load_b(Index col) const {  // as in row_bins: one text for both costs 5 %
    const std::uint64_t row = std::uint64_t{static_cast<unsigned>(col)} * op.row_bytes;
    const auto* from = reinterpret_cast<const Value*>(b_column + row);
    if constexpr (kPieces) {
      return pieces.load(from);
    } else {
      return load_kept<kWidth>(from);
    }
  }
  __device__ static void add_product(Sum& sum, Number x, const Vector& y) {
    if constexpr (kPieces) {
      Columns::add_product(sum, x, y);
    } else {
      sum.add_product(x, y);
    }
  }

  /// Multiplies kStep staged entries from `first` on. Rows without an entry are skipped: 0 times
  /// infinity would be NaN.
  template <bool kHasValues>
  __device__ void add_step(Sum (&sums)[kPanelRows], int first) const {
    Pack<Index, kStep> cols;
    std::uint64_t masks;
    memcpy(&cols, &staged.cols[first], sizeof cols);
    memcpy(&masks, &staged.masks[first], sizeof masks);
    const auto mask_of = [&](int u) {
      return static_cast<unsigned>(masks >> (u < 4 ? 0 : 32)) >> u % 4 * 8;
    };
    Vector y[kStep];
#pragma unroll
    for (int u = 0; u < kStep; ++u) {
      if ((mask_of(u) & 0xffu) != 0) {  // else past the list's end
        y[u] = load_b(cols.item[u]);
      }
    }
#pragma unroll
    for (int u = 0; u < kStep; ++u) {
      Pack<Value, kPanelRows> x;
      if constexpr (kHasValues) x = staged.values[first + u];
#pragma unroll
      for (int r = 0; r < kPanelRows; ++r) {
        if ((mask_of(u) & 1u << r) != 0) {
          add_product(sums[r], kHasValues ? widen<Number>(x.item[r]) : Number{1}, y[u]);
        }
      }
    }
  }

  /// Multiplies a list, or a part of one, of `length` entries. The next entries are loaded
  /// meanwhile. The groups of a warp walk together, those with shorter lists past their ends.
  template <bool kHasValues>
  __device__ void add_list(Sum (&sums)[kPanelRows], Offset begin, Index length) const {
    const int padded = (length + kStep - 1) / kStep * kStep;
    const int longest = __reduce_max_sync(kAllLanes, padded);
    const int first = static_cast<int>(threadIdx.x) - lane;
    Entry mine;
    mine.mask = 0;  // no entry
    if (lane < padded) mine = load<kHasValues>(begin + lane);
#pragma unroll 1
    for (int done = 0; done < longest; done += kLanes) {
      __syncwarp();
      if constexpr (kHasValues) staged.values[threadIdx.x] = mine.values;
      staged.cols[threadIdx.x] = mine.col;
      staged.masks[threadIdx.x] = static_cast<std::uint8_t>(mine.mask);
      __syncwarp();
      mine.mask = 0;
      if (done + kLanes + lane < padded) mine = load<kHasValues>(begin + (done + kLanes + lane));
      const int count = min(kLanes, longest - done);
#pragma unroll 1
      for (int at = 0; at < count; at += kStep) add_step<kHasValues>(sums, first + at);
    }
  }

  __device__ void store(const Sum (&sums)[kPanelRows], Index panel) const {
    const Offset row = Offset{panel} * kPanelRows;
    if (!has_columns) return;
    typename Types::Output* c = op.c.data + row * op.c.leading_dim + column;
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      if (row + r >= op.c.rows) return;
      auto* const to = c + r * op.c.leading_dim;
      if constexpr (kPieces) {
        pieces.store(sums[r], to, [&](const auto& piece, auto* at) { store_scaled(piece, at); });
      } else {
        store_scaled(sums[r], to);
      }
    }
  }
  template <class SumsOfColumns>
  __device__ void store_scaled(const SumsOfColumns& sums, typename Types::Output* c) const {
    if constexpr (kScales) {
      sums.store(c, op.alpha, op.beta);
    } else {
      sums.store(c);
    }
  }

  __device__ void leave(const Sum (&sums)[kPanelRows], Offset slot) const {
    if (!has_columns) return;
    Number* to = op.partial + slot * kPanelRows * op.partial_stride + column;
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      if constexpr (kPieces) {
        pieces.leave(sums[r], to + r * op.partial_stride);
      } else {
        store_shared_by_all<kWidth>(to + r * op.partial_stride, sums[r].item);
      }
    }
  }
  __device__ void add_up(Sum (&sums)[kPanelRows], Offset first_slot, Index count) const {
    const Number* from = op.partial + first_slot * kPanelRows * op.partial_stride + column;
    const Offset stride = kPanelRows * op.partial_stride;
    if constexpr (kPieces) {
#pragma unroll
      for (int r = 0; r < kPanelRows; ++r) {
        pieces.collect(sums[r], from + r * op.partial_stride, stride, count);
      }
    } else {
      add_slots_of_rows(sums, from, op.partial_stride, stride, has_columns, count);
    }
  }

  /// Stores a part's sums; the part that comes last adds up all parts. Returns whether the panel is
  /// complete.
  __device__ bool meet_other_parts(Sum (&sums)[kPanelRows], Index slot, Offset slice,
                                   Index& panel) const {
    return meet_parts<kLanes>(
        op.tasks, slot, slice, lane, [&](Offset at) { leave(sums, at); },
        [&](Offset first, Index count) { add_up(sums, first, count); }, panel);
  }
};

}  // namespace csrkit::gpu
