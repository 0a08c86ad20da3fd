// One .csr file written by all ranks, each its block of rows.
#pragma once

#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "ranks/communicator.h"

namespace csrkit {

/// `block`: this rank's rows, [borders[rank], borders[rank + 1]) of the matrix; `borders` has one
/// number more than there are ranks. `beside` has orders and provenance; that of rank 0 is written.
/// The bytes are those of write_csr_file.
void write_csr_together(ranks::Communicator& communicator, const std::string& path,
                        const CsrMatrix& block, const std::vector<Index>& borders,
                        const CsrFile& beside);

}  // namespace csrkit
