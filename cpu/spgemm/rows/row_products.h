// Rows of C from rows of A, an accumulator chosen for every row, for every vector unit there is:
// the inner loops of adaptive_rows.
#pragma once

#include "core/contract/spgemm.h"
#include "core/matrix/csr_matrix.h"
#include "cpu/common/instruction_set.h"

namespace csrkit::cpu {

/// What counting the entries of C needs of a problem: no value of A, and none of B if its kind is
/// ImplicitOne.
template <class BValue>
struct ProductPattern {
  using B = BValue;

  const Offset* a_offsets;
  const Index* a_cols;
  CsrView<B> b;
  const Offset* mask_offsets;  // null without a mask
  const Index* mask_cols;
  bool sorts_rows;
  const std::uint8_t* b_next_is_alike;  // of every row of op(B): the next has its columns; or null
  const std::uint8_t* next_is_shifted;  // of every row of A, as shifted_rows.h says; or null

  ProductPattern(const SpgemmProblem& problem, const CsrView<B>& op_b,
                 const std::uint8_t* next_is_alike, const std::uint8_t* next_row_is_shifted)
      : a_offsets(problem.a.row_offsets()),
        a_cols(problem.a.col_indices()),
        b(op_b),
        mask_offsets(problem.mask ? problem.mask->row_offsets() : nullptr),
        mask_cols(problem.mask ? problem.mask->col_indices() : nullptr),
        sorts_rows(problem.sorts_rows),
        b_next_is_alike(next_is_alike),
        next_is_shifted(next_row_is_shifted) {}
};

/// Typed operands. Values of A are converted one by one as their rows of B are visited; values of B
/// are what the loops run over.
template <class BValue, class AccValue>
struct ProductJob : ProductPattern<BValue> {
  using B = BValue;
  using Acc = AccValue;

  ValueKind a_kind;
  const void* a_values;
  Acc alpha;
  double drop_below;
  bool has_tiny_rows;  // most rows have few products, and nothing is left out of them

  ProductJob(const SpgemmProblem& problem, const CsrMatrix& op_b,
             const std::uint8_t* next_is_alike = nullptr,
             const std::uint8_t* next_row_is_shifted = nullptr, bool most_rows_are_tiny = false)
      : ProductPattern<B>(problem, op_b.view<B>(), next_is_alike, next_row_is_shifted),
        a_kind(problem.a.value_kind()),
        a_values(problem.a.values()),
        alpha(static_cast<Acc>(problem.alpha)),
        drop_below(problem.drop_below),
        has_tiny_rows(most_rows_are_tiny) {}

  [[gnu::always_inline]] Acc a_value(Offset at) const {
    if (a_kind == ValueKind::none) return Acc{1};
    if constexpr (!std::is_same_v<B, ImplicitOne>) return value_of_a<B>(at);  // A has B's kind
    if constexpr (std::is_same_v<Acc, double>) return value_of_a<double>(at);
    if (a_kind == ValueKind::f32) return value_of_a<float>(at);
    return a_kind == ValueKind::f16 ? value_of_a<f16>(at) : value_of_a<bf16>(at);
  }

 private:
  template <class A>
  [[gnu::always_inline]] Acc value_of_a(Offset at) const {
    return load_as<Acc>(static_cast<const A*>(a_values)[at]);
  }
};

/// Calls `f(TypeTag<B>{}, TypeTag<Acc>{})` with the types of a legal problem: the one dispatch of
/// this room.
template <class F>
auto with_spgemm_kinds(const SpgemmProblem& problem, F&& f) {
  const ValueKind b = problem.b.value_kind();
  if (problem.accumulate == ValueKind::f64) {
    return b == ValueKind::none ? f(TypeTag<ImplicitOne>{}, TypeTag<double>{})
                                : f(TypeTag<double>{}, TypeTag<double>{});
  }
  switch (b) {
    case ValueKind::f16: return f(TypeTag<f16>{}, TypeTag<float>{});
    case ValueKind::bf16: return f(TypeTag<bf16>{}, TypeTag<float>{});
    case ValueKind::none: return f(TypeTag<ImplicitOne>{}, TypeTag<float>{});
    default: return f(TypeTag<float>{}, TypeTag<float>{});
  }
}

/// Columns that a dense accumulator may span; a wider row is made in tiles of that many. Chosen
/// so that sums and flags stay in the second-level cache.
struct RangeSizes {
  Index sums = 0;   // columns with a sum and a flag
  Index flags = 0;  // columns with a flag only, for counting
};
RangeSizes range_sizes(int acc_bytes);

/// Two ways to make a row in the order in which columns are met give the same bits. Which of them
/// is faster depends on how well a core foresees whether a column was met before: nothing but a try
/// tells. A few of every 1,024 rows are made each way, by the clock.
class WaysOfMeeting {
 public:
  enum Way : std::uint8_t { by_flags, by_branches };

  /// The way of the next row.
  Way next() const {
    return turn_ < 2 * kTried ? (turn_ < kTried ? by_flags : by_branches) : best_;
  }
  bool is_tried() const { return turn_ < 2 * kTried; }

  /// After every row; `cycles` count if it was tried.
  void made(std::uint64_t cycles, Offset products) {
    if (is_tried()) {
      Tried& of = tried_[turn_ / kTried];
      of.cycles += cycles;
      of.products += products;
    }
    ++turn_;
    if (turn_ == 2 * kTried) {
      const Tried &flags = tried_[by_flags], &branches = tried_[by_branches];
      best_ = branches.cycles * static_cast<std::uint64_t>(flags.products) <
                      flags.cycles * static_cast<std::uint64_t>(branches.products)
                  ? by_branches
                  : by_flags;
    }
    if (turn_ < kRows) return;
    turn_ = 0;
    // What was seen before counts half.
    for (Tried& of : tried_) {
      of.cycles /= 2;
      of.products /= 2;
    }
  }

 private:
  static constexpr int kTried = 8, kRows = 1024;
  struct Tried {
    std::uint64_t cycles = 0;
    Offset products = 0;
  };
  Tried tried_[2];
  int turn_ = 0;
  Way best_ = by_flags;
};

/// What one thread counts rows with. The arrays grow when a row needs it and are kept, clean, from
/// row to row.
struct CountScratch {
  Buffer<std::uint8_t> flags;   // 1 where the range has an entry; 0 everywhere
  Buffer<std::uint8_t> groups;  // 1 where 64 flags have one; 0 everywhere
  Buffer<Index> table_cols;     // hash table; -1 everywhere
  Buffer<std::uint64_t> order;  // (column, slot) of the entries in the table
  Buffer<std::uint64_t> order_copy;
  Buffer<Offset> cursors;  // where each row of B goes on in the next tile
};

/// What one thread makes rows with.
template <class Acc>
struct RowScratch : CountScratch {
  Buffer<Acc> sums;            // of the range; the semiring's empty sum everywhere
  Buffer<Acc> table_sums;      // beside table_cols
  WaysOfMeeting ways;          // for rows in any order
  Buffer<Index> placed;        // of such a row: where in all rows before it and in it a column is
  Index placed_before = 0;     // entries of all rows before
  Buffer<Index> met;           // of such a row: the place of every product in the range
  Buffer<std::uint8_t> again;  // beside it: 1 where an earlier product has that place
  Buffer<Index> places;        // in a row of C of a grid: where every product goes
  Buffer<Index> row_cols;      // a row before entries are dropped
  Buffer<Acc> row_values;

  static std::uint64_t bytes_for(const RangeSizes& ranges, Offset most_hashed, Offset most_sources,
                                 Offset most_met, Offset most_shifted, Offset most_dropped);
};

/// How a row is summed up. `list` is there where vectors make it fast (most_listed above 0).
/// `grouped` and `tiles` mark groups of 64 flags, too, so that empty stretches of the range cost
/// nothing.
enum class Accumulator : std::uint8_t { none, copy, dense, list, grouped, tiles, hash };
// Columns of a range that may go with one product: flags that are all looked at, and groups of 64
// flags, where the limit is the caches that scattered sums fill.
inline constexpr Offset kFlagsPerProduct = 32;
inline constexpr Offset kGroupedFlagsPerProduct = 4096;
// A small row's table stays in the first cache and its columns sort in a few vectors; of many tiles
// every one visits all rows of B again.
inline constexpr Offset kSmallRow = 64;
inline constexpr Offset kFewTiles = 4;
inline constexpr Offset kFlagsPerCostlyProduct = 256;

/// Rows of at most this many products may be made in registers, one element of a vector a column.
inline constexpr Offset kTinyRow = 16;

/// Columns of a range for each product above which a row of few products is a list: a list costs
/// the same however far apart they are. A range has no branches either, but flags to look through.
inline constexpr Offset kFlagsPerListedProduct = 192;

/// Columns of a range for each product above which a row in any order keeps a list of what it has
/// met: below, its flags are looked through faster than columns are listed.
inline constexpr Offset kFlagsPerMetProduct = 4;
/// Products of a row of a grid that is made after the pattern of the row before, at most; and rows
/// in a row that make finding the pattern worth while.
inline constexpr Offset kMostShifted = 2048;
inline constexpr Index kFewestShifted = 4;
/// Rows of B with the same columns that are added at once.
inline constexpr int kMostJoined = 4;

/// Elements behind the products of such a row that may be read and written: a vector of columns.
inline constexpr Index kMetPadding = 16;

inline Accumulator accumulator_for(Offset sources, Offset products, Offset width, Index range,
                                   Offset most_listed) {
  if (products == 0) return Accumulator::none;
  if (sources == 1) return Accumulator::copy;
  if (products <= most_listed && width > kFlagsPerListedProduct * products)
    return Accumulator::list;
  const bool is_costly = products <= kSmallRow || width > kFewTiles * range;
  if (width > (is_costly ? kFlagsPerCostlyProduct : kGroupedFlagsPerProduct) * products) {
    return Accumulator::hash;
  }
  if (width > range) return Accumulator::tiles;
  return width <= kFlagsPerProduct * products ? Accumulator::dense : Accumulator::grouped;
}

/// How the `allowed` columns of a mask's row meet a row of B of so many entries: its columns are
/// looked up among those allowed, one after the other, or each of those is searched in the row. A
/// step of a search waits for the one before, so two of them go with one product. A full row of B
/// then costs no more than what it may add to.
inline constexpr Offset kProductsPerSearchStep = 2;
inline Offset search_cost(Offset allowed, Offset entries) {
  const int steps = 64 - __builtin_clzll(static_cast<unsigned long long>(entries) | 1);
  return kProductsPerSearchStep * allowed * steps;
}
inline Offset masked_cost(Offset allowed, Offset entries) {
  const Offset search = search_cost(allowed, entries);
  return search < entries ? search : entries;
}

/// row_nnz[i] = entries of row first + i of C, for rows [first, last), none of them dropped.
using RowCount = void (*)(const ProductPattern<ImplicitOne>& pattern, Index first, Index last,
                          const RangeSizes& ranges, CountScratch& scratch, Index* row_nnz);
RowCount row_count(Isa isa);

/// The inner loops for one combination of kinds, one instruction set and one semiring.
template <class B, class Acc>
struct RowProducts {
  /// As row_count, without the entries below drop_below: only their values tell.
  void (*count_kept)(const ProductJob<B, Acc>& job, Index first, Index last,
                     const RangeSizes& ranges, RowScratch<Acc>& scratch, Index* row_nnz);
  /// Rows [first, last) side by side, and how many entries each has, unless row_nnz is null.
  /// Returns the entries of all.
  Offset (*make)(const ProductJob<B, Acc>& job, Index first, Index last, const RangeSizes& ranges,
                 RowScratch<Acc>& scratch, Index* row_nnz, Index* cols, Acc* values);
};

/// Defined for what with_spgemm_kinds can call for; semirings other than plus_times have no 16-bit
/// kinds.
template <class B, class Acc>
RowProducts<B, Acc> row_products(Isa isa, Semiring semiring);

}  // namespace csrkit::cpu
