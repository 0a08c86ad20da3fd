// Sums of rows for every vector unit there is: the inner loops of the formats. They know neither
// alpha and beta nor y, and x lies side by side in the kind of the sums (row_sums.h).
#pragma once

#include "core/matrix/csr_matrix.h"
#include "cpu/common/instruction_set.h"
#include "cpu/common/row_chunks.h"

namespace csrkit::cpu::spmv {

/// Rows of a slice of sell, and of one of compressed.
constexpr int kSellRows = 16;
constexpr int kCompressedRows = 32;

/// How the values of a compressed slice are kept.
enum class ValueForm : std::uint8_t {
  raw,     // one by one
  coded,   // 8-bit positions in a table of all values of the matrix
  uniform  // one for each diagonal
};

/// How the columns of a compressed slice are kept.
enum class ColumnForm : std::uint8_t {
  diagonals,  // entries (row, row + offset) of all rows side by side, for each offset in use
  bytes,      // row by row, as a distance of 8 bits from the slice's first column
  words,      // the same with 16 bits
  in_place    // columns and values are those of the CSR matrix
};

/// A compressed slice by diagonals. Lane l of step s is entry (l, l + offsets[s]) counted from the
/// slice's first row, where bit l of masks[s] is set.
template <class A, class Acc>
struct DiagonalSlice {
  const std::int32_t* offsets;  // `steps` numbers
  const std::uint32_t* masks;   // `steps` numbers
  std::int32_t steps;
  ValueForm form;
  const void* values;  // uniform: steps of A; coded: steps x 32 bytes; raw: steps x 32 of A
  const Acc* table;    // what codes stand for
};

/// A compressed slice row by row.
template <class A, class Acc>
struct NarrowSlice {
  const std::uint16_t* starts;  // rows + 1 positions in cols and values
  std::int32_t rows;
  ColumnForm columns;  // bytes or words
  const void* cols;
  ValueForm form;      // raw or coded
  const void* values;  // of A, or codes; not looked at for kind none
  const Acc* table;
};

/// A slice of csr_lanes' runs has as many rows as two vectors, its parts, have elements.
constexpr int kLaneParts = 2;
constexpr int kMostLaneRows = 32;

/// Runs: slices of rows, one below the other, and their entries on diagonals. First come
/// the diagonals of a slice on which all of its rows have an entry, then those of its first part
/// where only some have, those of the second part, and so on. Entry l of a step is (l, first + l),
/// counted from the first row of the slice or part, where bit l of the step's mask is set.
template <class A>
struct LaneRuns {
  const std::uint32_t* steps;  // of each slice: how many for all of it, and for each part
  std::int32_t slices;
  const Index* firsts;         // of each step; lanes that are not set may be outside the matrix
  const std::uint16_t* masks;  // of each step
  const A* values;  // of each step, 0 where there is no entry; not looked at for kind none
};

/// Pieces of rows side by side, `lane_width` of them in a slice, from long to short: step k of a
/// slice has entry k of those that are longer.
template <class A>
struct LanePieces {
  const std::uint16_t* steps;  // of each slice
  std::int32_t slices;
  const std::uint8_t* counts;  // of each step, how many pieces have an entry: the first ones
  const Index* cols;           // lane_width for each step
  const A* values;             // likewise; not looked at for kind none
};

/// For values of kind A and sums of kind Acc. The order of a sum depends on the row's entries and
/// the instruction set alone.
template <class A, class Acc>
struct InnerLoops {
  /// sums[i - first] of rows [first, last).
  void (*rows)(const CsrView<A>& a, const Acc* x, Index first, Index last, Acc* sums);
  /// The sum over entries [begin, end).
  Acc (*stretch)(const CsrView<A>& a, const Acc* x, Offset begin, Offset end);
  /// sums[l] of kSellRows rows with `width` entries each; the value of entry k of row l is at
  /// k * kSellRows + l. For every k there are kSellRows columns, or, where they follow each other,
  /// the first of them, c, as ~c.
  void (*slice)(const A* values, const Index* cols, Index width, const Acc* x, Acc* sums);
  /// kCompressedRows sums; `x` points to the element of the slice's first row.
  void (*diagonals)(const DiagonalSlice<A, Acc>& slice, const Acc* x, Acc* sums);
  /// slice.rows sums; `x` points to the element of the slice's first column.
  void (*narrow)(const NarrowSlice<A, Acc>& slice, const Acc* x, Acc* sums);
  /// The sum of every row that `rows` names.
  void (*chunks)(const ChunkedRows<A>& rows, const Acc* x, Acc* sums);
  int lane_width;  // elements of a vector
  /// kLaneParts * lane_width sums for every slice of runs, lane_width for one of pieces.
  void (*runs)(const LaneRuns<A>& runs, const Acc* x, Acc* sums);
  void (*pieces)(const LanePieces<A>& pieces, const Acc* x, Acc* sums);
  /// sums[i] = from[at[i]], i in [0, count), or += if `adds`.
  void (*pick)(const Acc* from, const std::uint16_t* at, Index count, bool adds, Acc* sums);
  /// sums[0, size) += blocks of size x size by columns, block n at column cols[n] * size.
  void (*blocks)(int size, const A* values, const Index* cols, Offset count, const Acc* x,
                 Acc* sums);
};

/// Defined for every legal pair of kinds.
template <class A, class Acc>
InnerLoops<A, Acc> inner_loops(Isa isa);

}  // namespace csrkit::cpu::spmv
