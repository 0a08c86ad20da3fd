// The device code of row_bins: what one group of lanes does with one task.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_bins/launch.cuh"
#include "gpu/spmm/row_tasks/sums.cuh"
#include "gpu/spmm/staged_store.cuh"

namespace csrkit::gpu {

/// What lanes hold in addition where rows of B begin anywhere.
template <bool kShifted>
struct ShiftedLane {
  static constexpr bool has_tail = false;
};
template <>
struct ShiftedLane<true> {
  const std::byte* b_tail;  // this lane's element for the group's last lane, in row 0 of B
  bool has_tail;
  Index b_first;  // the first column that b_column is of
};

/// One group of lanes and its columns: kWidth columns a lane, kLanes lanes. The groups of a warp
/// walk together, so every function but store and the last is called by all 32 lanes. kScales:
/// alpha is not 1 or beta not 0; the branch in every store of the unrolled steps would cost up to a
/// fifth of the time.
template <class Types, int kWidth, int kLanes, bool kScales, OperandRows kOperandRows>
struct RowGroup {
  static constexpr bool kShifted = kOperandRows == OperandRows::shifted;
  static constexpr bool kStaged = kOperandRows != OperandRows::aligned;
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  using Operands = std::conditional_t<kShifted, ShiftedBinsOperands<Types>, RowBinsOperands<Types>>;
  using Vector = std::conditional_t<kShifted, ShiftedVector<Value, kWidth>, Pack<Value, kWidth>>;
  using Running =
      std::conditional_t<kShifted, ShiftedSums<Types, kWidth, kLanes>, Sums<Types, kWidth>>;
  static constexpr int kStep = kShortRow;  // nonzeros whose rows of B are asked for together

  const Operands& op;
  int lane;
  const std::byte* b_column;  // this lane's columns in row 0 of B
  Index column;
  bool has_columns;
  Number* staged;  // the group's, room for a row
  ShiftedLane<kShifted> shifted;

  __device__ static RowGroup of(const Operands& op, int lane) {
    // Of 32 bits, because what lives long must fit into 64 registers, or else every warp writes it
    // to L2.
    Number* staged = nullptr;
    if constexpr (kStaged) {
      __shared__ StagedRows<Number, kWidth, kLanes, kRowBinsThreads> rows;
      staged = rows.mine();
    }
    if constexpr (kShifted) {
      constexpr Index kLast = kWidth * kLanes - (kWidth - 1);  // the first that tails are for
      const Index first = static_cast<Index>(blockIdx.y) * op.slice_cols;
      const Index cols = min(op.slice_cols, op.c.cols - first), mine = lane * kWidth;
      // A lane beyond the last column reads what is left of a row whose shift is large.
      const Index b_first = first + (mine < cols + kWidth - 1 ? mine : 0);
      const bool has_tail = lane < kWidth - 1 && kLast + lane < cols;
      return {
          op,
          lane,
          reinterpret_cast<const std::byte*>(op.b.data + b_first),
          first + mine,
          mine < cols,
          staged,
          {reinterpret_cast<const std::byte*>(op.b.data + first + (has_tail ? kLast + lane : 0)),
           has_tail, b_first}};
    } else {
      const auto column = static_cast<Index>((blockIdx.y * kLanes + lane) * kWidth);
      const bool has_columns = column < op.c.cols;
      // Lanes beyond the last column read the first one, and drop what they make of it.
      const Value* b_column = op.b.data + (has_columns ? column : 0);
      const auto* at = reinterpret_cast<const std::byte*>(b_column);
      return {op, lane, at, column, has_columns, staged, {}};
    }
  }

  /// Some entries, one a lane; lanes without one hold a column that may be read and value 0.
  struct Entries {
    Index col = 0;
    Number value = 0;
  };
  __device__ Entries no_entry() const {
    Entries none;
    if constexpr (kShifted) none.col = op.rows.idle_row;
    return none;
  }
  __device__ Entries load(const Index* cols, const Value* values, Index at) const {
    Entries mine;
    // Not evicted first: the rest of a line is wanted soon, and all of it again by the next slice.
    mine.col = __ldg(cols + at);
    mine.value = values == nullptr ? Number{1} : load_value(values, at);
    return mine;
  }
  /// A's values are looked at by their kind only here: no kernel more for f32 beside 16 bits.
  __device__ Number load_value(const Value* values, Index at) const {
    if constexpr (sizeof(Value) == 2) {
      if (op.values_are_wide)
        return load_kept<1>(reinterpret_cast<const float*>(values) + at).item[0];
    }
    return widen<Number>(load_kept<1>(values + at).item[0]);
  }
  __device__ const Value* values_from(const void* values, Offset begin) const {
    if (op.a.values == nullptr) return nullptr;
    const Offset bytes = sizeof(Value) == 2 && op.values_are_wide ? 4 : sizeof(Value);
    return reinterpret_cast<const Value*>(static_cast<const std::byte*>(values) + begin * bytes);
  }
  __device__ Vector load_b(Index col) const {
    const std::uint64_t row = std::uint64_t{static_cast<unsigned>(col)} * op.row_bytes;
    if constexpr (kShifted) {
      constexpr std::uintptr_t kBytes = sizeof(Value) * kWidth;
      const auto at = reinterpret_cast<std::uintptr_t>(b_column + row) / kBytes * kBytes;
      Vector y;
      y.vector = load_kept<kWidth>(reinterpret_cast<const Value*>(at));
      y.tail = load_tail(row);
      return y;
    } else {
      return load_kept<kWidth>(reinterpret_cast<const Value*>(b_column + row));
    }
  }
  __device__ Value load_tail(std::uint64_t row) const {
    Value tail{};
    if (shifted.has_tail) {
      tail = load_kept<1>(reinterpret_cast<const Value*>(shifted.b_tail + row)).item[0];
    }
    return tail;
  }
  /// The same, where not all of the vector is B's.
  __device__ Vector load_edge(Index col) const {
    const std::uint64_t row = std::uint64_t{static_cast<unsigned>(col)} * op.row_bytes;
    const auto shift = static_cast<int>(op.rows.template shift_of<kWidth>(col));
    const auto* from = reinterpret_cast<const Value*>(b_column + row) - shift;
    const Index first = shifted.b_first - shift;
    Vector y{};
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (first + i >= 0 && first + i < op.c.cols)
        y.vector.item[i] = load_kept<1>(from + i).item[0];
    }
    y.tail = load_tail(row);
    return y;
  }
  template <class T>
  __device__ static T pass(T mine, int from) {
    return __shfl_sync(kAllLanes, mine, from, kLanes);
  }
  __device__ void store(const Sums<Types, kWidth>& sums, Index row) const {
    typename Types::Output* c = op.c.data + Offset{row} * op.c.leading_dim + column;
    if constexpr (kStaged) {
      Index cols = op.c.cols - (column - lane * kWidth);
      if constexpr (kShifted) cols = min(op.slice_cols, cols);
      return store_by_elements<kLanes>(sums, staged, lane, c - lane * kWidth, cols, op.alpha,
                                       op.beta);
    }
    if (!has_columns) return;
    if constexpr (kScales) {
      sums.store(c, op.alpha, op.beta);
    } else {
      sums.store(c);
    }
  }

  /// Entries [from, from + kCount) of those that the lanes hold; or, if not kIsFull, as many of
  /// them as are below `count`.
  template <int kCount, bool kIsFull>
  __device__ void gather(Running& sums, const Entries& mine, int from, int count) const {
    [[maybe_unused]] const auto shifts = shifts_of(mine, from);
    if constexpr (kShifted) {
      if (shifts.edges != 0) {
#pragma unroll 1
        for (int u = 0; u < kCount; ++u) {
          const Index col = pass(mine.col, from + u);
          const Number x = pass(mine.value, from + u);
          if (kIsFull || from + u < count) add_product(sums, x, load_edge(col), shifts, u);
        }
        return;
      }
    }
    Vector y[kCount];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const Index col = pass(mine.col, from + u);
      if (kIsFull || from + u < count) y[u] = load_b(col);
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const Number x = pass(mine.value, from + u);
      if (kIsFull || from + u < count) add_product(sums, x, y[u], shifts, u);
    }
  }
  __device__ auto shifts_of(const Entries& mine, int from) const {
    if constexpr (kShifted) {
      return Shifts<kWidth>::template of<kLanes>(op.rows, mine.col, from);
    } else {
      return 0;
    }
  }
  /// Of entry `u` of those that `shifts` are of.
  template <class AllShifts>
  __device__ static void add_product(Running& sums, Number x, const Vector& y,
                                     const AllShifts& shifts, int u) {
    if constexpr (kShifted) {
      sums.add_product(x, y, shifts.is_odd(u), shifts.is_upper(u));
    } else {
      sums.add_product(x, y);
    }
  }
  /// Calls add(running), and leaves in `sums` what comes of it. Called by all lanes of the warp.
  template <class F>
  __device__ void add_up(Sums<Types, kWidth>& sums, F&& add) const {
    if constexpr (kShifted) {
      Running running;
      running.clear();
      add(running);
      sums = running.at_columns(lane);
    } else {
      add(sums);
    }
  }

  // Loops over a task are not unrolled: the steps are, and a kernel of 70 KB misses the instruction
  // cache.

  /// A row, or a part of one, of `length` entries. The next entries are on their way while these
  /// are worked on.
  __device__ void add_row(Sums<Types, kWidth>& sums, const Index* cols, const Value* values,
                          Index length) const {
    add_up(sums, [&](Running& running) { add_entries(running, cols, values, length); });
  }
  __device__ void add_entries(Running& sums, const Index* cols, const Value* values,
                              Index length) const {
    const int shortest = __reduce_min_sync(kAllLanes, length),
              longest = __reduce_max_sync(kAllLanes, length);
    Entries mine = no_entry();
    if (lane < length) mine = load(cols, values, lane);
    int done = 0;
#pragma unroll 1
    for (; done + kLanes <= shortest; done += kLanes) {
      Entries next = no_entry();
      if (done + kLanes + lane < length) next = load(cols, values, done + kLanes + lane);
#pragma unroll(kShifted ? 1 : kLanes / kStep)
      for (int from = 0; from < kLanes; from += kStep) gather<kStep, true>(sums, mine, from, 0);
      mine = next;
    }
    // Short batches for the rest: fewer loads that turn out to be nobody's.
    constexpr int kRest = kStep / 2;
#pragma unroll 1
    while (done < longest) {
      const int left = length - done;
#pragma unroll 1
      for (int from = 0; from < kLanes && done + from < longest; from += kRest) {
        gather<kRest, false>(sums, mine, from, left);
      }
      done += kLanes;
      mine = no_entry();
      if (done + lane < length) mine = load(cols, values, done + lane);
    }
  }

  /// A warp or a block, whose groups of lanes work on one row. Its entries are dealt out in turns:
  /// kLanes of them to each group. Variables, as a second copy of the loops below would cost 3 % to
  /// 5 %; where all crews are warps, the compiler knows them.
  struct Crew {
    Index turn;  // entries of a turn: as many as there are threads
    Index log2_groups;
    Index group;  // this one's number
    __device__ Index share_of(Index entries) const {
      return (entries + (1 << log2_groups) - 1) >> log2_groups;
    }
  };
  static constexpr Index kLog2Groups = kLanes == 32 ? 0 : kLanes == 16 ? 1 : 2;
  static_assert(kLanes << kLog2Groups == 32);
  __device__ static Crew warp_crew() {
    return {32, kLog2Groups, static_cast<Index>(threadIdx.x % 32 / kLanes)};
  }
  template <int kLog2Warps>
  __device__ static Crew block_crew() {
    return {32 << kLog2Warps, kLog2Groups + kLog2Warps, static_cast<Index>(threadIdx.x / kLanes)};
  }

  /// This lane's entry of the turn that begins at `at`. Of a shorter rest every group has an equal
  /// share.
  __device__ Entries load_turn(const Crew& crew, const Index* cols, const Value* values, Index at,
                               Index length) const {
    const Index left = length - at;
    const Index share = left >= crew.turn ? kLanes : crew.share_of(left);
    const Index mine = crew.group * share + lane;
    if (lane < share && mine < left) return load(cols, values, at + mine);
    return no_entry();
  }

  /// A row, or a part of one, of `length` entries, the same for the whole crew. Every group of a
  /// warp has the warp's sum in the end.
  __device__ void add_long_row(Sums<Types, kWidth>& sums, const Crew& crew, const Index* cols,
                               const Value* values, Index length) const {
    add_up(sums, [&](Running& running) { add_turns(running, crew, cols, values, length); });
#pragma unroll
    for (int apart = kLanes; apart < 32; apart *= 2) sums.add_from_lane_apart(apart);
  }
  __device__ void add_turns(Running& sums, const Crew& crew, const Index* cols, const Value* values,
                            Index length) const {
    Entries mine = load_turn(crew, cols, values, 0, length);
    Index done = 0;
#pragma unroll 1
    for (; done + crew.turn <= length; done += crew.turn) {
      const Entries next = load_turn(crew, cols, values, done + crew.turn, length);
#pragma unroll(kShifted ? 1 : kLanes / kStep)
      for (int from = 0; from < kLanes; from += kStep) gather<kStep, true>(sums, mine, from, 0);
      mine = next;
    }
    constexpr int kRest = kStep / 2;
    const Index left = length - done, share = crew.share_of(left);
    const Index own = min(share, left - crew.group * share);
#pragma unroll 1
    for (int from = 0; from < share; from += kRest) gather<kRest, false>(sums, mine, from, own);
  }

  /// Calls finish(sums, r) for kRows rows of kLength entries each.
  template <int kLength, int kRows, class F>
  __device__ void multiply_rows(const Entries& mine, F&& finish) const {
    constexpr int kEntries = kRows * kLength;
    [[maybe_unused]] const auto shifts = shifts_of(mine, 0);
    if constexpr (kShifted) {
      if (shifts.edges != 0) {
#pragma unroll 1
        for (int r = 0; r < kRows; ++r) {
          Running running;
          running.clear();
#pragma unroll 1
          for (int u = r * kLength; u < (r + 1) * kLength; ++u) {
            const Number x = pass(mine.value, u);
            add_product(running, x, load_edge(pass(mine.col, u)), shifts, u);
          }
          finish(running.at_columns(lane), r);
        }
        return;
      }
    }
    Vector y[kEntries];  // of any row of B for entries that are nobody's: their sums are not stored
#pragma unroll
    for (int u = 0; u < kEntries; ++u) y[u] = load_b(pass(mine.col, u));
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Sums<Types, kWidth> sums;
      sums.clear(op.algebra);
      add_up(sums, [&](Running& running) {
#pragma unroll
        for (int u = r * kLength; u < (r + 1) * kLength; ++u) {
          add_product(running, pass(mine.value, u), y[u], shifts, u);
        }
      });
      finish(sums, r);
    }
  }

  /// `rows` rows of exactly kLength entries, which lie one after the other. As many rows a step as
  /// have kStep entries together, so that as many loads are in flight as in a long row.
  template <int kLength>
  __device__ void multiply_strip(Offset begin, const Index* row_order, Index rows) const {
    constexpr int kRows = kStep / kLength, kEntries = kRows * kLength;
    const Index* cols = op.tasks.short_cols + begin;
    const Value* values = values_from(op.tasks.short_values, begin);
    const int most_rows = __reduce_max_sync(kAllLanes, rows), entries = rows * kLength;
    Entries mine = no_entry();
    if (lane < kEntries && lane < entries) mine = load(cols, values, lane);
    Index my_row = 0;  // of the next kStep rows, one a lane
    if (lane < kStep && lane < rows) my_row = __ldg(row_order + lane);
#pragma unroll 1
    for (int done = 0; done < most_rows; done += kRows) {
      Entries next = no_entry();
      const int ahead = (done + kRows) * kLength + lane;
      if (lane < kEntries && ahead < entries) next = load(cols, values, ahead);
      multiply_rows<kLength, kRows>(mine, [&](const Sums<Types, kWidth>& sums, int r) {
        const Index row = pass(my_row, (done + r) % kStep);
        if (done + r < rows) store(sums, row);
      });
      mine = next;
      if ((done + kRows) % kStep == 0 && lane < kStep && done + kRows + lane < rows) {
        my_row = __ldg(row_order + done + kRows + lane);
      }
    }
  }

  __device__ void multiply_strip(const RowTask& task) const {
    const Index* row_order = op.tasks.row_order + task.target;
    const Index rows = strip_rows(task.size);
    switch (strip_length(task.size)) {  // the same in the whole warp
      case 0: {
        Sums<Types, kWidth> nothing;
        nothing.clear(op.algebra);
#pragma unroll 1
        for (Index i = 0; i < rows; ++i) store(nothing, __ldg(row_order + i));
        return;
      }
      case 1: return multiply_strip<1>(task.begin, row_order, rows);
      case 2: return multiply_strip<2>(task.begin, row_order, rows);
      case 3: return multiply_strip<3>(task.begin, row_order, rows);
      case 4: return multiply_strip<4>(task.begin, row_order, rows);
      case 5: return multiply_strip<5>(task.begin, row_order, rows);
      case 6: return multiply_strip<6>(task.begin, row_order, rows);
      case 7: return multiply_strip<7>(task.begin, row_order, rows);
      default: return multiply_strip<8>(task.begin, row_order, rows);
    }
  }

  /// Leaves a part's sum, and adds the parts if it came last. Says whether the row is complete.
  __device__ bool meet_other_parts(Sums<Types, kWidth>& sums, Index slot, Offset slice,
                                   Index& row) const {
    const unsigned mask = lanes_of_group<kLanes>();
    const RowTasks& tasks = op.tasks;
    const CutRow cut = tasks.cut_rows[tasks.cut_of_slot[slot]];
    const Index groups = (cut.parts + kPartsPerGroup - 1) / kPartsPerGroup;
    const Index my_group = (slot - cut.first_slot) / kPartsPerGroup;
    const Index in_group = min(kPartsPerGroup, cut.parts - my_group * kPartsPerGroup);
    Index* counters = tasks.counters + slice * tasks.counter_count + cut.first_counter;
    Number* partial = op.partial + column;
    const Offset stride = op.partial_stride;
    if (!arrive<kLanes>(sums, partial + slot * stride, has_columns, counters + my_group, in_group,
                        mask, lane)) {
      return false;
    }
    const Offset first = Offset{cut.first_slot} + my_group * kPartsPerGroup;
    add_slots(sums, partial + first * stride, stride, has_columns, in_group);
    if (groups > 1) {
      const Offset group_slot = Offset{cut.first_slot} + cut.parts;
      if (!arrive<kLanes>(sums, partial + (group_slot + my_group) * stride, has_columns,
                          counters + groups, groups, mask, lane)) {
        return false;
      }
      add_slots(sums, partial + group_slot * stride, stride, has_columns, groups);
    }
    row = cut.row;
    return true;
  }
};

}  // namespace csrkit::gpu
