// Which rows of B the entries of A read, and when rows of A end, from samples of A: what the
// settings of nnz_balanced are chosen by.
#pragma once

#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

/// Among a few thousand neighbouring entries, the part that names a row of B not named among them
/// before: 1 where every entry needs another row, near 0 where rows of A share their columns. From
/// a few samples of the matrix.
double fresh_rows_of_b(const CsrMatrix& op_a);

/// Of the rows of B that are named for the first time among a few thousand neighbouring entries,
/// the part that lies beside one named among the last few hundred: near 1 for meshes and bands,
/// near 0 for graphs without an order. From a few samples.
double rows_of_b_in_runs(const CsrMatrix& op_a);

/// Whether most rows are as long as the row before, so that the machine foresees where they end.
/// From a few samples.
bool foresees_row_ends(const CsrMatrix& op_a);

/// The rows of B that one of so many threads reads, counted for the one in the middle; all of them
/// where its entries are too many to be looked at.
Index rows_of_b_per_thread(const CsrMatrix& op_a, int threads);

}  // namespace csrkit::cpu
