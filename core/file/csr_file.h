// The binary .csr format, version 1: the only code that knows its bytes.
// docs/csr_file_format.md specifies them; a reader can be written from that page alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_digest.h"
#include "core/base/progress.h"
#include "core/file/csr_file_header.h"
#include "core/file/rank_sections.h"
#include "core/matrix/csr_matrix.h"
#include "core/matrix/csr_sink.h"
#include "core/matrix/permutation.h"

namespace csrkit {

/// An assignment of rows to parts (METIS k-way and the like).
struct Partition {
  Index parts = 0;
  std::shared_ptr<const Buffer<Index>> part_of_row;  // rows numbers in [0, parts)
  /// Null, or parts + 1 numbers about a square matrix whose column j belongs to the part of row j:
  /// the entries whose row and column belong to different parts, then for each part its halo, the
  /// number of columns of other parts in which its rows have entries.
  std::shared_ptr<const Buffer<Offset>> borders = nullptr;
};

/// A matrix and all that a file holds beside it. The orders lead from the matrix at import to the
/// stored one: `row_order->new_of_old()[i]` is the stored row that was row i at import. So undoing
/// a reordering never needs the original file.
struct CsrFile {
  CsrMatrix matrix;
  CsrFlags flags;
  std::optional<Permutation> row_order;
  std::optional<Permutation> col_order;
  std::optional<Partition> partition;
  std::string provenance;  // JSON text or ""; its schema is in docs/csr_file_format.md
  std::optional<RankSections> ranks = std::nullopt;  // partitions for several ranks
};

/// mmap maps the arrays (shared page cache, nothing copied), read copies them into memory of their
/// own; automatic maps files above 64 MiB.
enum class FileIo : std::uint8_t { automatic, mmap, read };
FileIo parse_file_io(const std::string& name);

struct CsrReadOptions {
  FileIo io = FileIo::automatic;
  ProgressCallback progress;
  /// Filled, if not null, while the file is read and checked, in the same pass over the bytes.
  FileDigest* digest = nullptr;
  /// False: the file is mapped and only its header is checked. For a file that was checked before:
  /// a damaged one makes kernels read and write anywhere. `digest` is not filled.
  bool is_checked = true;
};

/// Reads and checks everything once: magic, version, sizes against the file before any allocation,
/// header checksum, checksums of the body, padding zero, offsets monotone, columns in range, sorted
/// and unique. Throws InputError ("path: byte N: ...") or IoError.
CsrFile read_csr_file(const std::string& path, const CsrReadOptions& options = {});

/// Reads and checks the header only.
CsrFileHeader read_csr_header(const std::string& path);

/// Reads and checks the header and the provenance, "" if there is none.
std::string read_csr_provenance(const std::string& path);

/// Reads and checks the header, the orders and the provenance: what a file made of this one carries
/// on. The other members of the result are empty.
CsrFile read_csr_beside(const std::string& path);

/// Reads and checks only the header and the levels of parts. An empty list if the file holds no
/// parts.
std::vector<PartLevel> read_rank_heads(const std::string& path);

/// What one of `parts` ranks needs of a file. Reads only the heads and the part's own rows and
/// lists, and checks all checksums that cover them. They are mapped while the part is made, or read
/// with FileIo::read. Throws UsageError if the file holds no such level. `threads` as in team_size.
RankPart read_rank_part(const std::string& path, Index parts, Index part,
                        FileIo io = FileIo::automatic, int threads = 0,
                        PartColumns columns = PartColumns::local);

/// Whether the file starts with the format's magic; false for anything else, unreadable included.
bool is_csr_file(const std::string& path);

/// Writes all of it, atomically (see AtomicFile). The matrix must be valid.
void write_csr_file(const std::string& path, const CsrFile& file,
                    const ProgressCallback& progress = {});

/// Writes a matrix whose nnz is known only after the last row: room for the offsets is reserved,
/// columns and values are appended in chunks with their checksums, and the header comes last. Takes
/// a few MiB of memory. The file appears under its name only in `finish`.
class CsrFileSink : public CsrSink {
 public:
  CsrFileSink(const std::string& path, Index rows, Index cols, ValueKind kind);
  ~CsrFileSink() override;
  void append_rows(const CsrMatrix& block) override;
  /// `beside` has flags, orders and provenance; its other members are not looked at. Throws
  /// UsageError while rows are missing, and for what no file can hold; the sink may be finished
  /// later then.
  void finish(const CsrFile& beside);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace csrkit
