// Whether a matrix is symmetric, as the flags of .csr files say it.
#pragma once

#include "core/file/csr_file.h"

namespace csrkit {

/// The true flags, measured on the matrix.
CsrFlags measured_flags(const CsrMatrix& matrix);

}  // namespace csrkit
