// What the rows of a product are going to cost, in one look at A by all threads.
#pragma once

#include "core/contract/spgemm.h"
#include "cpu/spgemm/analysis/row_pieces.h"

namespace csrkit::cpu {

struct RowWork {
  Offset products = 0;       // of all rows
  Offset nnz_bound = 0;      // entries that C may have
  Offset most_products = 0;  // of a row
  Offset most_sources = 0;   // entries of a row of A
  Offset most_made = 0;      // entries that a row of C may have
  Offset most_hashed = 0;    // products, or entries of the mask, of a row that may be hashed
  RowPieces pieces;
};

/// `cost_sums` gets the running sums that RowPieces leaves, one number per row.
RowWork find_row_work(const SpgemmProblem& problem, const CsrMatrix& op_b, int threads,
                      Offset* cost_sums);

}  // namespace csrkit::cpu
