// Plans of products with dense operands that take new values for A's entries without a new
// analysis. Training gives new values in every step.
#pragma once

#include "core/base/error.h"
#include "core/contract/spmm.h"

namespace csrkit {

class TakesValues {
 public:
  virtual ~TakesValues() = default;

  /// The next products are made with these values: nnz numbers of A's kind in the order of its
  /// entries, in the memory where the plan works, borrowed until the next call. Throws UsageError
  /// where A has no values, where op(A) is A^T, and for a kernel that cannot: on the CPU one that
  /// keeps values in a form of its own, on a device one of SpMV, of a vendor or of a ladder. There,
  /// what the kernel derived from the values is derived anew, in the plan's stream, and waited for.
  virtual void set_values(const void* values) = 0;
};

/// Throws UsageError for a plan that takes no new values.
inline void set_values(Plan& plan, const void* values) {
  auto* const takes = dynamic_cast<TakesValues*>(&plan);
  if (takes == nullptr) throw UsageError("this plan takes no new values; make a new one");
  takes->set_values(values);
}

/// Throws UsageError for a problem whose values no kernel can replace.
inline void require_replaceable_values(const SpmmProblem& problem) {
  if (problem.a.value_kind() == ValueKind::none) {
    throw UsageError("A has no values that could be replaced; make the plan of one that has");
  }
  if (problem.transpose_a) {
    throw UsageError("values cannot be replaced in a plan that transposes A; plan A^T itself");
  }
}

}  // namespace csrkit
