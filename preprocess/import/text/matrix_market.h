// The Matrix Market reader, for files and for members of archives.
#pragma once

#include "preprocess/import/format_reader.h"
#include "preprocess/import/source/byte_source.h"

namespace csrkit {

/// Reads all of `source` into result.matrix; also fills the counts, notes and repairs.
void read_matrix_market_source(ByteSource& source, const ReadRequest& request,
                               ImportResult& result);

}  // namespace csrkit
