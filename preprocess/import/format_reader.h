// What one row of formats.inc provides, and what the readers share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "preprocess/import/formats.h"
#include "preprocess/import/source/source_limits.h"

namespace csrkit {

/// The part of a file that detection may look at.
struct Peek {
  std::string path;
  bool is_directory = false;
  std::uint64_t size_bytes = 0;  // on disk; 0 for a directory
  std::string_view disk_head;    // the first bytes as they are on disk (up to 64 KiB)
  std::string_view head;         // the first bytes after decompression (up to 64 KiB)
  bool head_is_whole = false;    // head is all there is
  bool is_tar = false, is_zip = false;
  std::vector<std::string> members;  // names in a zip file; empty for others
};

class ByteSource;

/// The arguments of every reader.
struct ReadRequest {
  const Parameters& parameters;  // of the format
  Duplicates duplicates;
  std::string value_kind;  // as in ImportOptions
  const ProgressCallback& progress;
  const SourceLimits& limits;
  std::shared_ptr<ByteSource> pipe = nullptr;  // to be read in place of the path, if there is one
};

/// The pipe of the request, or the opened file.
std::shared_ptr<ByteSource> open_input(const std::string& path, const ReadRequest& request);

/// One row of formats.inc. `matches` looks at the peek only and must never throw; the first row
/// that matches wins. `read` fills everything of the result except format, read_seconds, and size
/// and digest of the inputs (it only names their paths). It need not convert to
/// request.value_kind: the dispatcher does that at the end.
struct FormatReader {
  ImportFormat format;
  bool (*matches)(const Peek& peek);
  ImportResult (*read)(const std::string& path, const ReadRequest& request);
};
const std::vector<FormatReader>& format_readers();

/// Turns coordinates into `result.matrix`, with request.duplicates; fills repairs and sort_seconds.
/// `where` names the file in messages. Throws InputError if the rows alone take more than
/// request.limits allow for so many entries.
void finish_coo(CooMatrix coo, const ReadRequest& request, const std::string& where,
                ImportResult& result);

/// Arrays in CSR form as a file gives them: nothing is checked yet.
struct CsrArrays {
  Index rows, cols;
  Buffer<Offset> row_offsets;
  Buffer<Index> col_indices;
  ValueArray values;
};

/// The same for arrays in CSR form. Checks row offsets and the range of columns (InputError). Rows
/// that are sorted and unique stay as they are; others are repaired and counted.
void finish_csr(CsrArrays arrays, const ReadRequest& request, const std::string& where,
                ImportResult& result);

/// The same for a matrix in CSC form: the arrays are those of its transpose in CSR form.
void finish_csc(CsrArrays transposed, const ReadRequest& request, const std::string& where,
                ImportResult& result);

/// An empty row takes 8 bytes in memory and few or none in a file, so a few bytes could ask for
/// gigabytes. InputError if rows take more memory than a compressed file of the same entries may.
void require_plausible_rows(Offset rows, Offset entries, const SourceLimits& limits,
                            const std::string& where);

/// Sizes by the largest id: one set of nodes, rows and columns alike.
void make_square(CooMatrix& coo);

/// Appends the mirror image of every entry off the diagonal, behind the entries as read (negated if
/// `negate`). Returns how many. `coo` must be square.
Offset append_mirrored(CooMatrix& coo, bool negate);

/// Entries that come before (row, column) of their predecessor.
Offset count_out_of_order(const CooMatrix& coo);

/// The value kind that the user asked for, or `automatic` if that is "auto". Throws UsageError.
ValueKind wanted_kind(const std::string& value_kind, ValueKind automatic);

// Declares matches_<stem> and read_<stem> of every format.
#define CSRKIT_IMPORT_FORMAT(stem, ...)  \
  bool matches_##stem(const Peek& peek); \
  ImportResult read_##stem(const std::string& path, const ReadRequest& request);
#include "preprocess/import/formats.inc"
#undef CSRKIT_IMPORT_FORMAT

}  // namespace csrkit
