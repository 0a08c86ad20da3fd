// Facts about a matrix and the cost of using it. Operations and bytes are counted here, once.
#pragma once

#include <vector>

#include "core/contract/sddmm.h"
#include "core/contract/spgemm.h"
#include "core/contract/spmm.h"
#include "core/facts/locality.h"

namespace csrkit {

/// Entries per row; 0 everywhere for a matrix without rows.
struct RowLengthProfile {
  Offset shortest = 0;
  Offset longest = 0;
  Index longest_row = 0;  // the first of that length
  double mean = 0;
  double standard_deviation = 0;  // of these rows, not estimated from a sample
  Index empty_rows = 0;
  Offset p25 = 0, median = 0, p75 = 0, p90 = 0, p99 = 0;  // nearest-rank quantiles
  std::vector<Index> rows_by_log2;  // [0]: empty rows; [k]: rows with 2^(k-1) <= length < 2^k
};

struct SymmetryProfile {
  bool is_square = false;
  bool is_pattern_symmetric = false;
  bool is_value_symmetric = false;
  /// The share of off-diagonal entries whose mirror image is stored; 1 without such entries.
  double pattern_share = 0;
  Offset diagonal_entries = 0;
};

struct MatrixStats {
  RowLengthProfile row_lengths;
  Index empty_cols = 0;
  LocalityProfile locality;
  SymmetryProfile symmetry;
};

/// Of a valid matrix in host memory. The same bits for any number of threads.
RowLengthProfile row_length_profile(const CsrMatrix& matrix);
SymmetryProfile symmetry_profile(const CsrMatrix& matrix);
MatrixStats matrix_stats(const CsrMatrix& matrix);

/// Work of one multiplication. `flops`: one multiplication and one addition per nonzero and dense
/// column. `gather_bytes`: what is moved if every nonzero fetches its row of B from memory, A is
/// read once and C written once (no reuse at all). `minimum_bytes`: A, B and C once each.
struct SpmmCost {
  double flops = 0;
  double gather_bytes = 0;
  double minimum_bytes = 0;
};
SpmmCost spmm_cost(const SpmmProblem& problem);

/// The same for an SDDMM. X and C are moved once; A's values count only if the product uses them.
SpmmCost sddmm_cost(const SddmmProblem& problem);

/// Multiplications of A * op(B): sum over A's entries (i, k) of the length of row k of op(B), whose
/// row offsets are given. `per_row`, if not null, gets A.rows() numbers. `threads` as in team_size.
Offset spgemm_products(const CsrMatrix& a, const Offset* op_b_offsets, Offset* per_row = nullptr,
                       int threads = 0);
inline Offset spgemm_products(const CsrMatrix& a, const CsrMatrix& op_b, Offset* per_row = nullptr,
                              int threads = 0) {
  return spgemm_products(a, op_b.row_offsets(), per_row, threads);
}

/// Counts the entries of the pattern of A * op_b. Takes one mark per thread and column of op_b, and
/// about as much work as the product.
Offset spgemm_output_nnz(const CsrMatrix& a, const CsrMatrix& op_b);

/// Work of one product C = A * op(B). `flops`: two per multiplication. `minimum_bytes`: A, B (once
/// if it is A) and C once each.
struct SpgemmCost {
  double products = 0;
  double flops = 0;
  double minimum_bytes = 0;
  double compression = 0;  // products per entry of C; 0 if C is empty
};
SpgemmCost spgemm_cost(const SpgemmProblem& problem, Offset products, Offset output_nnz);

}  // namespace csrkit
