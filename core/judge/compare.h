// The judge: is a computed product right? Bounds are derived per entry, never tuned.
//
// For C = alpha * op(A) * B + beta * C0 computed with unit roundoff u of the accumulation kind, in
// any order of summation, with or without FMA, the standard bound (Higham, Accuracy and Stability
// of Numerical Algorithms, 2nd ed., section 3.1) gives per entry
//
//   |computed - exact| <= gamma(n + 3) * magnitude + u_c * |exact| + (n + 3) * tiny
//
// with gamma(m) = m u / (1 - m u), n the entries in the row of op(A), three more roundings for
// alpha, beta and the final sum, magnitude = |alpha| sum |a b| + |beta c0|, u_c the unit roundoff
// of C's kind (0 if C has the accumulation's kind) and tiny the smallest positive number of either
// kind (gradual underflow; an |alpha| above 1 amplifies it). The reference's own float64 error,
// gamma_64(n + 3) * magnitude, is added. For rows so long that m u > 1/2 the bound 2 m u *
// magnitude takes over, which holds for any n (Jeannerod, Rump 2013: n u without a denominator).
//
// min-plus and max-times round each term once and then choose: rounding is monotonic, so the result
// is the exact one rounded once. or-and is exact.
//
// Where the reference is NaN the result must be NaN, where it is infinite the same infinity. An
// entry whose partial sums may leave the range of the accumulation's kind may also be infinite or
// NaN; one that fits there and not in C's kind may be the infinity of its sign.
#pragma once

#include "core/contract/sddmm.h"
#include "core/contract/spgemm.h"
#include "core/contract/spmm.h"

namespace csrkit {

struct CheckOptions {
  /// At most this many multiply-adds are spent on entries against the reference; a bigger product
  /// is checked by sampling. 0 = always everything.
  std::uint64_t work_limit = 1ull << 31;
  /// Samples a product of any size, with all of the work limit.
  bool always_samples = false;
  /// Random rows in a sampled check, besides the longest, first and last ones.
  Index sampled_rows = 256;
  std::uint64_t seed = 1;
};

struct CheckResult {
  bool passed = true;
  bool sampled = false;          // entries of some rows only
  bool has_projections = false;  // and one projection of every row
  Index rows_checked = 0;        // rows compared entry by entry
  double worst_error_ratio = 0;  // largest |error| / bound that was seen; below 1 if passed
  std::string failure;           // "" or the first failure: row, column, expected, found, bound
};

/// Judges C = alpha * op(A) * B + beta * C0; all views on the host. `c0` may be null if beta is 0.
/// Small products are compared entry by entry. Big ones are sampled: the longest, first, last and
/// some random rows entry by entry, and for every row (C x)_i against (alpha op(A) (B x) + beta C0
/// x)_i with one random x of +-1, within the sum of the row's bounds. Rows with a NaN or an
/// infinity in that sum are compared entry by entry instead: all where only one side has them, the
/// others as far as the work limit goes. A semiring without subtraction has no such sum: there, all
/// rows of some random columns are compared.
CheckResult check_spmm(const SpmmProblem& problem, ConstDenseView b, double alpha, double beta,
                       const ConstDenseView* c0, ConstDenseView c,
                       const CheckOptions& options = {});

/// Judges C = alpha * A * op(B): C is a valid CSR matrix of the problem's shape and kind, has
/// exactly the entries of the symbolic structure that the mask keeps, and every value is within the
/// bound above, n being the products that make the entry. With drop_below an entry must be there if
/// it is above the threshold by more than its bound and must not if it is below by more. Products
/// of more than work_limit multiplications are sampled: the rows with most products, the first, the
/// last and some random ones entry by entry, and - plus-times without mask and threshold - every
/// row's projection, as in check_spmm.
CheckResult check_spgemm(const SpgemmProblem& problem, const CsrMatrix& c,
                         const CheckOptions& options = {});

/// Judges an SDDMM of K dense columns; all views on the host. `c0`, C as it was before, may be null
/// if beta is 0. The bound is the one above with n = K, one more rounding for S, and the smallest
/// positive numbers amplified by |S| as by |alpha|. Products of more than work_limit
/// multiplications are sampled: the longest, the first and the last rows and an entry at random of
/// every stretch of equal length; and whatever is not finite in C, as far as the work limit goes.
/// rows_checked counts the rows of which something was compared.
CheckResult check_sddmm(const SddmmProblem& problem, ConstDenseView x, ConstDenseView y,
                        double alpha, double beta, const ConstValuesView* c0, ConstValuesView c,
                        const CheckOptions& options = {});

/// The bound above for one entry. `terms` is n, `magnitude` includes alpha and beta.
double spmm_error_bound(const SpmmProblem& problem, Offset terms, double reference,
                        double magnitude, double alpha = 1);

}  // namespace csrkit
