// How tools read their .csr files: the same option everywhere.
#pragma once

#include "core/file/csr_file.h"
#include "tools/cli/options.h"

namespace csrkit {

/// --io auto|mmap|read.
Options& declare_io(Options& options);

/// What --io asks for, with progress on a terminal.
CsrReadOptions read_options(const Options& options);

}  // namespace csrkit
