// The truth: serial products in float64, kept naive on purpose. Every kernel is checked against it.
#pragma once

#include <vector>

#include "core/contract/sddmm.h"
#include "core/contract/spgemm.h"

namespace csrkit {

/// One entry of a product, and the magnitude that its error bound needs.
struct ReferenceEntry {
  double value;      // alpha * sum_k a_ik b_kj + beta * c_ij (or the semiring's sum)
  double magnitude;  // |alpha| * sum_k |a_ik b_kj| + |beta c_ij|
};

/// Row `row` of op(A) * B for an op(A) that is stored by rows: pass transpose(A) for op(A) = A^T.
/// `out` gets one entry per column of B. `c` is read only if beta is not 0 (may be null otherwise).
void reference_spmm_row(const CsrMatrix& op_a, ConstDenseView b, Semiring semiring, double alpha,
                        double beta, const ConstDenseView* c, Index row, ReferenceEntry* out);

/// One entry of an SDDMM.
struct ReferenceSample {
  double value;         // alpha * S * dot + beta * c
  double magnitude;     // |alpha S| * sum_k |x y| + |beta c|
  double finite_sum;    // sum of |x y| of finite factors: what partial sums may reach
  double finite_added;  // |beta c|, if c is finite
  double factor;        // S
  double special_sum;   // sum of the terms with a NaN or an infinity in X, Y, S or c; 0 without any
};

/// Entry `at` of A, which is in row `row`. `c` is read only if beta is not 0 (may be null
/// otherwise).
ReferenceSample reference_sddmm_entry(const SddmmProblem& problem, const ConstDenseView& x,
                                      const ConstDenseView& y, double alpha, double beta,
                                      const ConstValuesView* c, Index row, Offset at);

/// One entry of a sparse product.
struct ReferenceProductEntry {
  Index col;
  Offset terms;        // products summed up
  double value;        // alpha * sum (or the semiring's sum)
  double magnitude;    // |alpha| * sum of |products|
  double finite_sum;   // sum of |products| over the finite ones: what partial sums may reach
  double special_sum;  // sum of the products of a stored NaN or infinity; 0 without any
};

/// Rows of alpha * A * op(B), one at a time, columns ascending, the symbolic structure cut by the
/// mask; drop_below is not applied. Holds one number per column of C. `op_b` is stored by rows:
/// transpose(B) for op(B) = B^T.
class ReferenceSpgemm {
 public:
  ReferenceSpgemm(const SpgemmProblem& problem, const CsrMatrix& op_b);
  void row(Index row, std::vector<ReferenceProductEntry>& out);

 private:
  const SpgemmProblem& problem_;
  CsrMatrix op_b_;
  std::vector<Offset> place_of_col_;  // where in `out` a column is; -1 elsewhere
};

}  // namespace csrkit
