// The device code of row_bins: the work of one group of lanes on one task.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_bins/launch.cuh"
#include "gpu/spmm/row_tasks/sums.cuh"
#include "gpu/spmm/staged_store.cuh"

namespace csrkit::gpu {

/// Entries of A in shared memory, passed from the lanes that read them to all lanes of their group:
/// one access reads several, where a shuffle passes one number.
template <class Number, int kLanes>
struct StagedEntries {
  alignas(16) Index cols[kLanes];
  alignas(16) Number values[kLanes];
};
/// Loads at least kCount numbers by accesses of 16 bytes.
template <class T, int kCount>
struct ReadTogether {
  static constexpr int kEach = 16 / static_cast<int>(sizeof(T));
  Pack<T, kEach> pack[(kCount + kEach - 1) / kEach];
  __device__ explicit ReadTogether(const T* from) {
#pragma unroll
    for (int i = 0; i * kEach < kCount; ++i) {
      pack[i] = *reinterpret_cast<const Pack<T, kEach>*>(from + i * kEach);
    }
  }
  __device__ T operator[](int i) const { return pack[i / kEach].item[i % kEach]; }
};

/// One group of lanes and its columns: kWidth columns a lane, kLanes lanes. In pieces a lane has
/// every kLanes-th column or pair of columns, else neighbours. The groups of a warp walk together,
/// so all 32 lanes call every function but store and the last one. kScales: alpha is not 1 or beta
/// not 0; a run-time branch in every store of the unrolled steps would cost up to a fifth of the
/// time.
template <class Types, int kWidth, int kLanes, bool kScales, OperandRows kOperandRows>
struct RowGroup {
  static constexpr bool kPairs = kOperandRows == OperandRows::pairs;
  static constexpr bool kPieces = kOperandRows == OperandRows::pieces || kPairs;
  static constexpr bool kStaged = kOperandRows == OperandRows::copied;
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  /// Whether entries of A go through shared memory instead of shuffles. In f64 an entry takes three
  /// shuffles; in other kinds some products gain and others lose. Not for strips, where it spills
  /// registers, unless rows are in pieces.
  static constexpr bool kInMemory = kPieces || (sizeof(Number) == 8 && Types::kIsPlusTimes);
  using Operands = std::conditional_t<kPieces, PiecesOperands<Types>, RowBinsOperands<Types>>;
  /// Without scaling, launches guarantee that only a lane's last piece may miss.
  using Columns = Pieces<Types, kWidth, kPairs ? 2 : 1, kLanes, !kScales>;
  using Vector = std::conditional_t<kPieces, typename Columns::Elements, Pack<Value, kWidth>>;
  /// Nonzeros whose rows of B are in flight together. With three or four pieces in f64 registers
  /// suffice for four.
  static constexpr int kStep = kPieces && sizeof(Number) == 8 && kWidth > 2 ? 4 : kShortRow;
  static constexpr int kRest = 4;  // the step where fewer are left
  /// Up to eight columns a load takes one register, so all remaining rows are loaded together.
  static constexpr bool kRestsTogether = !kPieces && kLanes == kShortRow && kWidth == 1;
  /// In rows with fewer entries than lanes, and in the rests of others, whole steps come first.
  /// With vectors this would spill.
  static constexpr bool kStepsInRests = kPieces;

  const Operands& op;
  int lane;
  const std::byte* b_column;  // this lane's columns in row 0 of B
  Index column;
  bool has_columns;
  Number* staged;                          // the group's room for a row
  Columns pieces;                          // if in pieces
  StagedEntries<Number, kLanes>* entries;  // the group's, if kInMemory

  __device__ static RowGroup of(const Operands& op, int lane) {
    // 32 bits, because long-lived values must fit into 64 registers; spilled ones would go to L2
    // for every warp.
    Number* staged = nullptr;
    if constexpr (kStaged) {
      __shared__ StagedRows<Number, kWidth, kLanes, kRowBinsThreads> rows;
      staged = rows.mine();
    }
    if constexpr (kPieces) {
      __shared__ StagedEntries<Number, kLanes> of_groups[kRowBinsThreads / kLanes];
      const auto pieces = Columns::of(op.slices, lane);
      const bool has_columns = pieces.left > 0;
      // Lanes beyond the last column read the first one, and drop the result.
      const Value* b_column = op.b.data + (has_columns ? pieces.column : 0);
      const auto* at = reinterpret_cast<const std::byte*>(b_column);
      auto* const entries = of_groups + threadIdx.x / kLanes;
      return {op, lane, at, pieces.column, has_columns, nullptr, pieces, entries};
    } else {
      const auto column = static_cast<Index>((blockIdx.y * kLanes + lane) * kWidth);
      const bool has_columns = column < op.c.cols;
      const Value* b_column = op.b.data + (has_columns ? column : 0);
      const auto* at = reinterpret_cast<const std::byte*>(b_column);
      StagedEntries<Number, kLanes>* entries = nullptr;
      if constexpr (kInMemory) {
        __shared__ StagedEntries<Number, kLanes> of_groups[kRowBinsThreads / kLanes];
        entries = of_groups + threadIdx.x / kLanes;
      }
      return {op, lane, at, column, has_columns, staged, {}, entries};
    }
  }

  /// Loads entries, one a lane. Lanes without an entry get a readable column and the value 0.
  struct Entries {
    Index col = 0;
    Number value = 0;
  };
  __device__ Entries load(const Index* cols, const Value* values, Index at) const {
    Entries mine;
    // Not evicted first: the rest of the line is read soon, and all of it again by the next slice.
    mine.col = __ldg(cols + at);
    mine.value = values == nullptr ? Number{1} : load_value(values, at);
    return mine;
  }
  /// Only here the kind of A's values matters, so f32 values with a B of 16 bits need no further
  /// kernels.
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
    const auto* from = reinterpret_cast<const Value*>(b_column + row);
    if constexpr (kPieces) {
      return pieces.load(from);
    } else {
      return load_kept<kWidth>(from);
    }
  }
  __device__ static void add_product(Sums<Types, kWidth>& sums, Number x, const Vector& y) {
    if constexpr (kPieces) {
      Columns::add_product(sums, x, y);
    } else {
      sums.add_product(x, y);
    }
  }
  template <class T>
  __device__ static T pass(T mine, int from) {
    return __shfl_sync(kAllLanes, mine, from, kLanes);
  }
  __device__ void store(const Sums<Types, kWidth>& sums, Index row) const {
    typename Types::Output* c = op.c.data + Offset{row} * op.c.leading_dim + column;
    if constexpr (kStaged) {
      const Index cols = op.c.cols - (column - lane * kWidth);
      return store_by_elements<kLanes>(sums, staged, lane, c - lane * kWidth, cols, op.alpha,
                                       op.beta);
    }
    if constexpr (kPieces) {
      pieces.store(sums, c, [&](const auto& piece, auto* to) { store_scaled(piece, to); });
    } else if (has_columns) {
      store_scaled(sums, c);
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

  /// If kInMemory: stores the entries that the lanes hold to shared memory.
  __device__ void stage(const Entries& mine) const {
    if constexpr (kInMemory) {
      __syncwarp();  // the last entries have been read
      entries->cols[lane] = mine.col;
      entries->values[lane] = mine.value;
      __syncwarp();
    }
  }

  /// Multiplies entries [from, from + kEntries) of those that the lanes hold; if not kIsFull, only
  /// those below `count`.
  template <int kEntries, bool kIsFull>
  __device__ void gather(Sums<Types, kWidth>& sums, const Entries& mine, int from,
                         int count) const {
    Vector y[kEntries];
    if constexpr (kInMemory) {
      const ReadTogether<Index, kEntries> cols(entries->cols + from);
#pragma unroll
      for (int u = 0; u < kEntries; ++u) {
        if (kIsFull || from + u < count) y[u] = load_b(cols[u]);
      }
      const ReadTogether<Number, kEntries> values(entries->values + from);
#pragma unroll
      for (int u = 0; u < kEntries; ++u) {
        if (kIsFull || from + u < count) add_product(sums, values[u], y[u]);
      }
    } else {
#pragma unroll
      for (int u = 0; u < kEntries; ++u) {
        const Index col = pass(mine.col, from + u);
        if (kIsFull || from + u < count) y[u] = load_b(col);
      }
#pragma unroll
      for (int u = 0; u < kEntries; ++u) {
        const Number x = pass(mine.value, from + u);
        if (kIsFull || from + u < count) add_product(sums, x, y[u]);
      }
    }
  }

  // Loops over a task are not unrolled: the steps are, and a kernel of 70 KB misses the instruction
  // cache.

  /// Multiplies a row, or a part of one, of `length` entries. The next entries are loaded
  /// meanwhile.
  __device__ void add_row(Sums<Types, kWidth>& sums, const Index* cols, const Value* values,
                          Index length) const {
    const int shortest = __reduce_min_sync(kAllLanes, length),
              longest = __reduce_max_sync(kAllLanes, length);
    Entries mine;
    if (lane < length) mine = load(cols, values, lane);
    int done = 0;
#pragma unroll 1
    for (; done + kLanes <= shortest; done += kLanes) {
      Entries next;
      if (done + kLanes + lane < length) next = load(cols, values, done + kLanes + lane);
      stage(mine);
#pragma unroll(kInMemory ? 1 : kLanes / kStep)
      for (int from = 0; from < kLanes; from += kStep) gather<kStep, true>(sums, mine, from, 0);
      mine = next;
    }
    // Short batches for the rest waste fewer loads.
#pragma unroll 1
    while (done < longest) {
      stage(mine);
      const int left = length - done;
      int from = 0;
      if constexpr (kRestsTogether) {
        if (longest - done > kRest) {
          gather<kLanes, false>(sums, mine, 0, left);
          from = kLanes;
        }
      }
      if constexpr (kStepsInRests) {
        const int whole = min(kLanes, shortest - done);
#pragma unroll 1
        for (; from + kStep <= whole; from += kStep) gather<kStep, true>(sums, mine, from, 0);
      }
#pragma unroll 1
      for (; from < kLanes && done + from < longest; from += kRest) {
        gather<kRest, false>(sums, mine, from, left);
      }
      done += kLanes;
      mine = Entries();
      if (done + lane < length) mine = load(cols, values, done + lane);
    }
  }

  /// A crew: the groups of a warp or of a block that share one row. In every turn each group gets
  /// kLanes entries. Members are variables, because a second copy of the loops below would cost 3
  /// to 5 %; where all crews are warps, the compiler knows their values.
  struct Crew {
    Index turn;  // entries of a turn: the number of threads
    Index log2_groups;
    Index group;  // this group's number
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

  /// This lane's entry of the turn that begins at `at`. A shorter rest is divided equally among the
  /// groups.
  __device__ Entries load_turn(const Crew& crew, const Index* cols, const Value* values, Index at,
                               Index length) const {
    const Index left = length - at;
    const Index share = left >= crew.turn ? kLanes : crew.share_of(left);
    const Index mine = crew.group * share + lane;
    if (lane < share && mine < left) return load(cols, values, at + mine);
    return Entries();
  }

  /// Multiplies a row, or a part of one, of `length` entries by the whole crew. Afterwards every
  /// group of a warp has the warp's sum.
  __device__ void add_long_row(Sums<Types, kWidth>& sums, const Crew& crew, const Index* cols,
                               const Value* values, Index length) const {
    Entries mine = load_turn(crew, cols, values, 0, length);
    Index done = 0;
#pragma unroll 1
    for (; done + crew.turn <= length; done += crew.turn) {
      const Entries next = load_turn(crew, cols, values, done + crew.turn, length);
      stage(mine);
#pragma unroll(kInMemory ? 1 : kLanes / kStep)
      for (int from = 0; from < kLanes; from += kStep) gather<kStep, true>(sums, mine, from, 0);
      mine = next;
    }
    const Index left = length - done, share = crew.share_of(left);
    const Index own = min(share, left - crew.group * share);
    stage(mine);
    int from = 0;
    if constexpr (kRestsTogether) {
      if (share > kRest) {
        gather<kLanes, false>(sums, mine, 0, own);
        from = kLanes;
      }
    }
    if constexpr (kStepsInRests) {
#pragma unroll 1
      for (; from + kRest < share; from += kStep) gather<kStep, false>(sums, mine, from, own);
    }
#pragma unroll 1
    for (; from < share; from += kRest) gather<kRest, false>(sums, mine, from, own);
#pragma unroll
    for (int apart = kLanes; apart < 32; apart *= 2) sums.add_from_lane_apart(apart);
  }

  /// Calls finish(sums, r) for kRows rows of kLength entries each.
  template <int kLength, int kRows, class F>
  __device__ void multiply_rows(const Entries& mine, F&& finish) const {
    constexpr int kEntries = kRows * kLength;
    Vector y[kEntries];  // lanes without an entry load any row of B; their sums are not stored
    const auto add_up = [&](auto&& value_of) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        Sums<Types, kWidth> sums;
        sums.clear(op.algebra);
#pragma unroll
        for (int u = r * kLength; u < (r + 1) * kLength; ++u) add_product(sums, value_of(u), y[u]);
        finish(sums, r);
      }
    };
    if constexpr (kPieces) {
      stage(mine);
      const ReadTogether<Index, kEntries> cols(entries->cols);
#pragma unroll
      for (int u = 0; u < kEntries; ++u) y[u] = load_b(cols[u]);
      const ReadTogether<Number, kEntries> values(entries->values);
      add_up([&](int u) { return values[u]; });
    } else {
#pragma unroll
      for (int u = 0; u < kEntries; ++u) y[u] = load_b(pass(mine.col, u));
      add_up([&](int u) { return pass(mine.value, u); });
    }
  }

  /// Multiplies `rows` consecutive rows of exactly kLength entries. A step takes as many rows as
  /// have kStep entries together, so that as many loads are in flight as in a long row.
  template <int kLength>
  __device__ void multiply_strip(Offset begin, const Index* row_order, Index rows) const {
    constexpr int kRows = kLength < kStep ? kStep / kLength : 1, kEntries = kRows * kLength;
    const Index* cols = op.tasks.short_cols + begin;
    const Value* values = values_from(op.tasks.short_values, begin);
    const int most_rows = __reduce_max_sync(kAllLanes, rows), entries = rows * kLength;
    Entries mine;
    if (lane < kEntries && lane < entries) mine = load(cols, values, lane);
    Index my_row = 0;  // the target of one of the next kStep rows, one a lane
    if (lane < kStep && lane < rows) my_row = __ldg(row_order + lane);
#pragma unroll 1
    for (int done = 0; done < most_rows; done += kRows) {
      Entries next;
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
    switch (strip_length(task.size)) {  // uniform in the warp
      case 0: {
        // The sum is empty, but alpha is applied: infinity times 0 is NaN.
        if (kScales && op.beta == 1 && op.alpha * Number{0} == Number{0}) return;
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

  /// Partial sums are stored in the order of columns.
  __device__ void leave(const Sums<Types, kWidth>& sums, Number* slot) const {
    if constexpr (kPieces) {
      pieces.leave(sums, slot);
    } else {
      if (has_columns) store_shared_by_all<kWidth>(slot, sums.item);
    }
  }
  __device__ void collect(Sums<Types, kWidth>& sums, const Number* from, Offset stride,
                          Index count) const {
    if constexpr (kPieces) {
      pieces.collect(sums, from, stride, count);
    } else {
      add_slots(sums, from, stride, has_columns, count);
    }
  }

  /// Stores a part's sum; the part that comes last adds up all parts. Returns whether the row is
  /// complete.
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
    leave(sums, partial + slot * stride);
    if (!arrive<kLanes>(counters + my_group, in_group, mask, lane)) return false;
    const Offset first = Offset{cut.first_slot} + my_group * kPartsPerGroup;
    collect(sums, partial + first * stride, stride, in_group);
    if (groups > 1) {
      const Offset group_slot = Offset{cut.first_slot} + cut.parts;
      leave(sums, partial + (group_slot + my_group) * stride);
      if (!arrive<kLanes>(counters + groups, groups, mask, lane)) return false;
      collect(sums, partial + group_slot * stride, stride, groups);
    }
    row = cut.row;
    return true;
  }
};

}  // namespace csrkit::gpu
