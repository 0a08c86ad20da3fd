// Which columns of a large matrix stand for all when reads of rows of B are simulated.
#pragma once

#include <cstdint>

#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// The columns whose reads are simulated: items, under consecutive numbers.
struct ColumnSample {
  static constexpr Index kLeftOut = -1;

  bool is_everything = true;
  Index count = 0;            // of items
  Index always = 0;           // the first so many are taken in any sample
  double scale = 1;           // each of the others stands for so many columns
  Buffer<Index> item_of_col;  // empty if everything is an item

  Index of(Index col) const { return is_everything ? col : item_of_col[col]; }
};

/// All columns of a matrix of up to `exact_reads` nonzeros. Else a sample whose columns have about
/// `sampled_reads` of them, in strata by length: the same share of each, chosen by hash. Strata of
/// which hardly any column would be chosen, those of the hubs, are taken whole.
ColumnSample column_sample(const CsrMatrix& matrix, Offset exact_reads, Offset sampled_reads,
                           std::uint64_t seed);

}  // namespace csrkit
