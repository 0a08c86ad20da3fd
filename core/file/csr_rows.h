// Some rows of a .csr file: only the chunks that cover them are read and checked.
#pragma once

#include <string>

#include "core/file/csr_file.h"

namespace csrkit {

/// The rows [begin, end), with columns of the whole matrix. Throws InputError, IoError.
CsrMatrix read_csr_rows(const std::string& path, Index begin, Index end,
                        FileIo io = FileIo::automatic);

/// A part as it stands in the file: what it exchanges, and its rows, with columns of the whole
/// matrix.
struct StoredPart {
  PartLists lists;
  CsrMatrix rows;
};

/// As read_rank_part, with the rows undivided. Throws InputError also if a row has an entry that is
/// neither in the part's own columns nor in its halo.
StoredPart read_stored_part(const std::string& path, Index parts, Index part,
                            FileIo io = FileIo::automatic);

/// The rows + 1 offsets; nothing else of the file is read.
Buffer<Offset> read_row_offsets(const std::string& path);

}  // namespace csrkit
