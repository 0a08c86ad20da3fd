// What a partition costs a program that distributes its data by it.
#pragma once

#include "core/file/csr_file.h"

namespace csrkit {

/// The numbers of Partition::borders: the cut, then the halo of every part. The matrix must be
/// square. Parallel over parts; takes 4 bytes per row and per entry of a part at a time.
Buffer<Offset> partition_borders(const CsrMatrix& matrix, const Partition& partition);

/// Rows of the largest part times parts by rows: 1 is even; 0 if there are no rows.
double partition_balance(const Partition& partition);

}  // namespace csrkit
