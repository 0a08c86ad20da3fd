// What a partition costs a program that distributes its data by it.
#pragma once

#include "core/file/csr_file.h"

namespace csrkit {

/// The numbers of Partition::borders: the cut, then the halo of every part. The matrix must be
/// square. Parallel over parts; takes 4 bytes per row and per entry of a part at a time.
Buffer<Offset> partition_borders(const CsrMatrix& matrix, const Partition& partition);

/// The modularity of the parts in the graph of A + A^T, entries in both directions counting twice
/// and the diagonal not (Newman, Phys. Rev. E 70, 056131, 2004): the share of entries within parts
/// minus what it would be if entries were drawn at random with the same row and column lengths.
/// `matrix` is square; 0 without entries.
double partition_modularity(const CsrMatrix& matrix, const Partition& partition);

/// Rows of the largest part times parts by rows: 1 is even; 0 if there are no rows.
double partition_balance(const Partition& partition);

}  // namespace csrkit
