// What operands lose when their values get a narrower kind, and the warnings of it.
#pragma once

#include <string>

#include "core/matrix/overflow.h"

namespace csrkit {

struct Losses {
  std::string overflow, underflow;  // what was found first of each; "" = nothing

  /// What `matrix`, a CsrMatrix or a dense view, loses in `kind`.
  template <class Matrix>
  void note(const Matrix& matrix, ValueKind kind, int threads = 0) {
    if (overflow.empty()) overflow = overflow_in(matrix, kind, threads);
    if (underflow.empty()) underflow = text_of(underflow_in(matrix, kind, threads), kind);
  }
};

/// Warns of what the operand `name` loses.
void warn_of_losses(const std::string& name, const Losses& losses);

}  // namespace csrkit
