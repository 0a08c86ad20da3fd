// Whether a matrix is symmetric, as .csr files say it.
#pragma once

#include "core/file/csr_file.h"

namespace csrkit {

/// The flags as they are, found by looking at the matrix.
CsrFlags measured_flags(const CsrMatrix& matrix);

}  // namespace csrkit
