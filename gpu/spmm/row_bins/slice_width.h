// How wide slices of the columns are, where rows of B begin at vectors. No CUDA here.
#pragma once

#include "core/matrix/csr_matrix.h"

namespace csrkit::gpu {

/// Whether slices of 128 instead of 256 bytes pay: where half of the narrow one fits into L2 and
/// little of the wide one; measured on an H200, docs/lab/2026-11-22-spmm-h200.md. Where a row of B
/// is read 96 times or more in the mean, they pay as soon as the wide one does not fit
/// (docs/lab/2026-11-26-spmm-near-rows.md): A and C are mostly little beside that. Where it is read
/// a few times, they only read A more often and cut more lines of B and C
/// (docs/lab/2026-11-28-spmm-last-slices.md). The width decides about bits, so `nnz` and `cols` are
/// those of the whole product, and nothing is known of where the columns are.
inline bool narrow_slices_pay(Offset nnz, Index cols, int b_bytes, double l2_bytes) {
  constexpr Offset kFewReads = 16, kManyReads = 96;
  if (nnz < kFewReads * cols) return false;
  const bool reads_often = b_bytes >= 4 && nnz >= kManyReads * cols;
  const double wide = 256.0 * cols, narrow = 128.0 * cols;
  return wide > (reads_often ? 1.25 : 2.5) * l2_bytes && narrow < 1.6 * l2_bytes;
}

}  // namespace csrkit::gpu
