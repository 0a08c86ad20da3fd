// Methods of SpMM and SpMV that take new values for A's entries (core/contract/takes_values.h).
#pragma once

#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

/// Also implemented by an SpmmMethod that reads A's values in place, or in a copy that it can fill
/// again.
class ReadsValuesInPlace {
 public:
  virtual ~ReadsValuesInPlace() = default;
  /// `a` has the same offsets and columns.
  virtual void take_values(const CsrMatrix& a) = 0;
};

}  // namespace csrkit::cpu
