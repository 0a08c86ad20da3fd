// What a rank of csr-spgemm-dist reads: its rows of A and of B.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "ranks/communicator.h"
#include "ranks/spgemm.h"
#include "tools/operation/operands/losses.h"
#include "tools/ranks/spgemm_options.h"

namespace csrkit {

/// What a rank has of the operands.
struct SpgemmShare {
  CsrFileHeader a_header, b_header;
  std::vector<Index> row_borders, b_borders;  // of rows of A and C; of rows of B
  std::optional<ranks::RowLists> lists;       // of the file, where its parts are the blocks
  Buffer<Offset> b_offsets;                   // of all of B
  Offset products = 0;
  CsrMatrix a, b;
  Losses a_losses, b_losses;          // by --value-kind
  std::optional<CsrMatrix> all_of_b;  // where ranks with GPUs see it; then `b` is empty
  CsrFile beside;                     // of rank 0: orders of C, and the history of A
};

/// Reads it. All ranks together.
SpgemmShare read_share(const SpgemmDistOptions& options, ranks::Communicator& communicator);

/// Rows of a file in the kind that is asked for; `losses` notes what that loses.
CsrMatrix read_rows(const SpgemmDistOptions& options, const std::string& path, Index begin,
                    Index end, Losses* losses);

/// Rows of B come to a GPU from memory that the ranks of a host share, all of them: what they take
/// to be found and put together is more than what they take to be copied. Where a rank's GPU has no
/// room for them, and between hosts, those that are needed travel.
void share_operands(const SpgemmDistOptions& options, ranks::Communicator& communicator, int device,
                    SpgemmShare* share);

}  // namespace csrkit
