// Parts of the rows from a stream: every row is looked at, put into a part, and forgotten. For
// matrices that METIS cannot take: rectangular ones, and those too large for its memory.
#pragma once

#include "core/file/csr_file.h"

namespace csrkit {

struct StreamOptions {
  Index parts = 2;
  int passes = 10;  // the later ones move rows to where their neighbours went
  /// Entries, and rows, of the largest part over the mean. Long rows may exceed it.
  double slack = 1.05;
  ProgressCallback progress;
};

/// Linear deterministic greedy (Stanton, Kliot, Streaming graph partitioning for large distributed
/// graphs, KDD 2012), repeated as in Nishimura, Ugander, Restreaming graph partitioning (KDD 2013).
/// A row goes where most of its columns are at home, less the fuller that part is. The home of a
/// column is the part of its own row, if the matrix is square, and that of the last row that read
/// it. Balanced by entries and by rows. One thread; 4 bytes for each row and column, and 72 for
/// each part.
Partition stream_parts(const CsrMatrix& matrix, const StreamOptions& options);

/// The bytes that it takes beside the matrix.
std::uint64_t stream_parts_bytes(Index rows, Index cols, Index parts);

}  // namespace csrkit
