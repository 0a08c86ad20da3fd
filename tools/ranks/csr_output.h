// One .csr file written by all ranks, each its block of rows.
#pragma once

#include <string>
#include <vector>

#include "core/matrix/csr_matrix.h"
#include "ranks/communicator.h"

namespace csrkit {

/// `block`: this rank's rows, [borders[rank], borders[rank + 1]) of the matrix; `borders` has one
/// number more than there are ranks. The bytes are those of write_csr_file.
void write_csr_together(ranks::Communicator& communicator, const std::string& path,
                        const CsrMatrix& block, const std::vector<Index>& borders,
                        const std::string& provenance);

}  // namespace csrkit
