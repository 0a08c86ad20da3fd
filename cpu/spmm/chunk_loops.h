// Rows of C from chunks of rows of A, for every vector unit there is: the inner loops of
// chunked_rows.
#pragma once

#include "cpu/common/instruction_set.h"
#include "cpu/common/row_chunks.h"

namespace csrkit::cpu {

/// Columns that one pass over the chunks makes: a cache line of them.
template <class Acc>
inline constexpr Index kChunkCols = 64 / static_cast<Index>(sizeof(Acc));

/// Rows of a batch at most.
inline constexpr Index kMostChunkedRows = 512;

/// What is multiplied: `b` and `c` at the first column wanted, C at the first row of the batch.
template <class Acc>
struct ChunkOperands {
  const Acc* b;
  Offset b_leading_dim;
  Acc* c;
  Offset c_leading_dim;
  Index rows;  // of the batch
  Acc alpha, beta;
  bool reads_c;
  Acc empty;  // a sum without entries: 0, or -0 where C is to keep even the sign of its zeros

  /// C += A B: a row of A without entries changes nothing.
  bool leaves_empty_rows() const { return reads_c && alpha == 1 && beta == 1; }
};

/// The rows of one batch for the first `cols` columns, at most kChunkCols.
template <class A, class Acc>
using ChunkLoop = void (*)(const ChunkedRows<A>& rows, const ChunkOperands<Acc>& x, Index cols);

/// Defined for sums in f32 and f64, and A of the same kind or of kind none.
template <class A, class Acc>
ChunkLoop<A, Acc> chunk_loop(Isa isa);

}  // namespace csrkit::cpu
