// The device code of row_panels: what one group of lanes does with one panel, or a part of one.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_panels/launch.cuh"
#include "gpu/spmm/row_panels/turning.cuh"
#include "gpu/spmm/row_tasks/sums.cuh"
#include "gpu/spmm/staged_store.cuh"

namespace csrkit::gpu {

/// Entries of the lists of a block's groups, one a lane, on their way from the lane that read them
/// to all lanes of its group.
template <class Value, int kThreads>
struct StagedEntries {
  Pack<Value, kPanelRows> values[kThreads];
  alignas(16) Index cols[kThreads];
  alignas(16) std::uint8_t masks[kThreads];
};

/// One group of lanes and its columns: kWidth columns a lane, kLanes lanes, kPanelRows sums a
/// column. Sums turn in whole warps only.
template <class Types, int kWidth, int kLanes, bool kScales, int kThreads, PanelOperands kOperands>
struct PanelGroup {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  using Vector = Pack<Value, kWidth>;
  using Staged = StagedEntries<Value, kThreads>;
  using Slice = TurningSlice<Types, kWidth>;
  static constexpr int kStep = kPanelAlign;  // entries whose rows of B are asked for together
  static constexpr bool kTurns = kOperands == PanelOperands::turning;
  static constexpr bool kStaged = kOperands == PanelOperands::copied;
  static_assert(kPanelRows <= 4, "half a byte has a bit for each row");
  static_assert(!kTurns || kLanes == kWarpLanes);

  struct PanelSums {
    Sums<Types, kWidth> row[kPanelRows];
    int shift = 0;  // turning: where the last row of B that was added begins
  };

  const RowPanelsOperands<Types>& op;
  Staged& staged;
  int lane;
  const std::byte* b_column;  // this lane's columns in row 0 of B
  Index column;               // this lane's first; turning: the slice's
  bool has_columns;
  Number* staged_row;  // copied: of C
  Slice slice;         // turning

  __device__ static PanelGroup of(const RowPanelsOperands<Types>& op, Staged& staged, int lane) {
    if constexpr (kTurns) {
      const Index first = static_cast<Index>(blockIdx.y) * op.slice_cols;
      const Slice slice{op.b.data + first,
                        op.row_bytes,
                        op.b.rows,
                        op.before,
                        min(op.slice_cols, op.c.cols - first),
                        lane};
      return {op, staged, lane, slice.first_vector(), first, true, nullptr, slice};
    } else {
      Number* staged_row = nullptr;
      if constexpr (kStaged) {
        __shared__ StagedRows<Number, kWidth, kLanes, kThreads> rows;
        staged_row = rows.mine();
      }
      const auto column = static_cast<Index>((blockIdx.y * kLanes + lane) * kWidth);
      const bool has_columns = column < op.c.cols;
      // Lanes beyond the last column read the first one, and drop what they make of it.
      const Value* b_column = op.b.data + (has_columns ? column : 0);
      const auto* at = reinterpret_cast<const std::byte*>(b_column);
      return {op, staged, lane, at, column, has_columns, staged_row, {}};
    }
  }

  // What is beside the rows in the mask of an entry that is staged, if kTurns: where its row of B
  // begins, whether sums turn before it, whether its row is an edge. In the place of that, row
  // edge_of is read first, which is none.
  static constexpr unsigned kRowBits = (1u << kPanelRows) - 1, kTurnBit = 0x40, kEdgeBit = 0x80;
  static constexpr int kShiftAt = 4;
  static constexpr std::uint64_t kEveryByte = 0x0101010101010101;

  struct Entry {
    Pack<Value, kPanelRows> values;
    Index col;
    unsigned mask;
  };
  /// Evicted first by groups that read whole lines. Narrower ones want the rest of the line soon.
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

  /// Of kStep entries that are staged.
  __device__ std::uint64_t masks_at(int first) const {
    std::uint64_t masks;
    memcpy(&masks, &staged.masks[first], sizeof masks);
    return masks;
  }

  /// kStep entries, from `first` of those that are staged on. No entry is no product: 0 times an
  /// infinity would be NaN.
  template <bool kHasValues, bool kMayTurn>
  __device__ void add_step(PanelSums& sums, int first, std::uint64_t masks) const {
    Pack<Index, kStep> cols;
    memcpy(&cols, &staged.cols[first], sizeof cols);
    const auto mask_of = [&](int u) {
      return static_cast<unsigned>(masks >> (u < 4 ? 0 : 32)) >> u % 4 * 8;
    };
    Vector y[kStep];
#pragma unroll
    for (int u = 0; u < kStep; ++u) {
      if ((mask_of(u) & kRowBits) == 0) continue;  // behind the list's end
      if constexpr (kTurns) {
        y[u] = slice.load(b_column, cols.item[u]);
      } else {
        y[u] = load_kept<kWidth>(reinterpret_cast<const Value*>(
            b_column + std::uint64_t{static_cast<unsigned>(cols.item[u])} * op.row_bytes));
      }
    }
#pragma unroll
    for (int u = 0; u < kStep; ++u) {
      if constexpr (kMayTurn) {
        if ((mask_of(u) & kTurnBit) != 0) {
          turn_to(sums, static_cast<int>(mask_of(u) >> kShiftAt & (kWidth - 1)));
          if ((mask_of(u) & kEdgeBit) != 0) y[u] = slice.load_edge(slice.row_of_edge(cols.item[u]));
        }
      }
      Pack<Value, kPanelRows> x;
      if constexpr (kHasValues) x = staged.values[first + u];
#pragma unroll
      for (int r = 0; r < kPanelRows; ++r) {
        if ((mask_of(u) & 1u << r) != 0) {
          sums.row[r].add_product(kHasValues ? widen<Number>(x.item[r]) : Number{1}, y[u]);
        }
      }
    }
  }

  __device__ void turn_to(PanelSums& sums, int shift) const {
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      slice.turn(sums.row[r].item, (shift - sums.shift) & (kWidth - 1));
    }
    if (shift < sums.shift) {  // that was too far by a vector
#pragma unroll
      for (int r = 0; r < kPanelRows; ++r) slice.turn_back(sums.row[r].item);
    }
    sums.shift = shift;
  }
  /// Writes into the mask of this lane's entry what it needs before it is added.
  __device__ void look_at(Entry& mine, int last_shift) const {
    const bool is_entry = mine.mask != 0;
    const int own = slice.shift_of(mine.col);
    int last = __shfl_up_sync(kAllLanes, own, 1);
    if (lane == 0) last = last_shift;
    if (!is_entry) return;
    const int edge = slice.edge_of(mine.col);
    mine.mask |= static_cast<unsigned>(own) << kShiftAt;
    if (own != last || edge != 0) mine.mask |= kTurnBit;
    if (edge == 0) return;
    mine.mask |= kEdgeBit;
    mine.col = edge;
  }

  /// A list, or a part of one, of `length` entries. The next entries are on their way while these
  /// are worked on. The groups of a warp walk together, those with shorter lists past their ends.
  template <bool kHasValues>
  __device__ void add_list(PanelSums& sums, Offset begin, Index length) const {
    const int padded = (length + kStep - 1) / kStep * kStep;
    const int longest = __reduce_max_sync(kAllLanes, padded);
    const int first = static_cast<int>(threadIdx.x) - lane;
    Entry mine;
    mine.mask = 0;  // no entry
    mine.col = 0;
    if (lane < padded) mine = load<kHasValues>(begin + lane);
    if constexpr (kTurns) sums.shift = slice.shift_of(__shfl_sync(kAllLanes, mine.col, 0, kLanes));
#pragma unroll 1
    for (int done = 0; done < longest; done += kLanes) {
      if constexpr (kTurns) look_at(mine, sums.shift);
      __syncwarp();
      if constexpr (kHasValues) staged.values[threadIdx.x] = mine.values;
      staged.cols[threadIdx.x] = mine.col;
      staged.masks[threadIdx.x] = static_cast<std::uint8_t>(mine.mask);
      __syncwarp();
      mine.mask = 0;
      if (done + kLanes + lane < padded) mine = load<kHasValues>(begin + (done + kLanes + lane));
      const int count = min(kLanes, longest - done);
#pragma unroll 1
      for (int at = first; at < first + count; at += kStep) {
        const std::uint64_t masks = masks_at(at);
        if (kTurns && (masks & kTurnBit * kEveryByte) != 0) {
          add_step<kHasValues, kTurns>(sums, at, masks);
        } else {
          add_step<kHasValues, false>(sums, at, masks);
        }
      }
    }
  }

  /// After the list; `is_part`: these sums are left for others.
  __device__ void finish(PanelSums& sums, bool is_part) const {
    if constexpr (kTurns) {
      if (is_part) turn_to(sums, 0);
    }
  }

  __device__ void store(const PanelSums& sums, Index panel) const {
    const Offset row = Offset{panel} * kPanelRows;
    if (!kStaged && !has_columns) return;
    const Index first = kStaged ? column - lane * kWidth : column;
    typename Types::Output* c = op.c.data + row * op.c.leading_dim + first;
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      if (row + r >= op.c.rows) return;
      auto* const to = c + r * op.c.leading_dim;
      if constexpr (kTurns) {
        slice.store(sums.row[r].item, sums.shift, to, op.alpha, op.beta);
      } else if constexpr (kStaged) {
        store_by_elements<kLanes>(sums.row[r], staged_row, lane, to, op.c.cols - first, op.alpha,
                                  op.beta);
      } else if constexpr (kScales) {
        sums.row[r].store(to, op.alpha, op.beta);
      } else {
        sums.row[r].store(to);
      }
    }
  }

  __device__ void leave(const PanelSums& sums, Offset slot) const {
    if (!has_columns) return;
    Number* to = op.partial + slot * kPanelRows * op.partial_stride + column;
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      if constexpr (kTurns) {
        slice.leave(sums.row[r].item, to + r * op.partial_stride);
      } else {
        store_shared_by_all<kWidth>(to + r * op.partial_stride, sums.row[r].item);
      }
    }
  }
  __device__ void add_up(PanelSums& sums, Offset first_slot, Index count) const {
    const Number* from = op.partial + first_slot * kPanelRows * op.partial_stride + column;
    const Offset stride = kPanelRows * op.partial_stride;
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      if constexpr (kTurns) {
        slice.collect(sums.row[r].item, from + r * op.partial_stride, stride, count);
      } else {
        add_slots(sums.row[r], from + r * op.partial_stride, stride, has_columns, count);
      }
    }
  }

  /// Leaves a part's sums, and adds the parts if it came last. Says whether the panel is complete.
  __device__ bool meet_other_parts(PanelSums& sums, Index slot, Offset number, Index& panel) const {
    return meet_parts<kLanes>(
        op.tasks, slot, number, lane, [&](Offset at) { leave(sums, at); },
        [&](Offset first, Index count) { add_up(sums, first, count); }, panel);
  }
};

}  // namespace csrkit::gpu
