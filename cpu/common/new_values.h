// Plans of SpMM and SpMV that take new values for A's entries, as training does in every step.
#pragma once

#include "core/contract/operator.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

/// A method that reads A's values where they lie, beside SpmmMethod.
class TakesValues {
 public:
  virtual ~TakesValues() = default;
  /// `a` has the same offsets and columns.
  virtual void take_values(const CsrMatrix& a) = 0;
};

/// The next products of `plan` are made with these values: nnz numbers of A's kind in the order of
/// its entries, borrowed until the next call. Throws UsageError for a plan of another room, where A
/// has no values, where op(A) is A^T, and for a kernel that keeps values in a form of its own.
void set_values(Operator& plan, const void* values);

}  // namespace csrkit::cpu
