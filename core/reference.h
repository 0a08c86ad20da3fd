// The truth: serial products in float64, kept naive on purpose. Everything answers to this.
#pragma once

#include "core/spmm.h"

namespace csrkit {

/// One entry of a product and what its error bound is made of.
struct ReferenceEntry {
  double value;      // alpha * sum_k a_ik b_kj + beta * c_ij (or the semiring's sum)
  double magnitude;  // |alpha| * sum_k |a_ik b_kj| + |beta c_ij|
};

/// Row `row` of op(A) * B for an op(A) that is stored by rows: pass transpose(A) for op(A) = A^T.
/// `out` gets one entry per column of B. `c` is read only if beta is not 0 (may be null otherwise).
void reference_spmm_row(const CsrMatrix& op_a, ConstDenseView b, Semiring semiring, double alpha,
                        double beta, const ConstDenseView* c, Index row, ReferenceEntry* out);

}  // namespace csrkit
