// Writing whole .csr files.
#include <algorithm>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/counted.h"
#include "core/file/csr_file.h"
#include "core/file/csr_file_frame.h"
#include "core/file/csr_file_layout.h"
#include "core/file/csr_file_sections.h"

namespace csrkit {

using namespace csr_layout;

namespace {

constexpr std::uint64_t kSliceBytes = 128 << 20;  // between two calls of the progress callback

/// Everything optional that a file holds, in the form in which it is written. Borrows `file`.
class OptionalParts {
 public:
  /// Throws UsageError for parts that do not belong to the matrix.
  OptionalParts(const std::string& path, const CsrFile& file) : path_(path), file_(file) {
    extras_.provenance_bytes = file.provenance.size();
    if ((extras_.has_row_order = file.row_order.has_value())) {
      require_size("row order", file.row_order->size(), file.matrix.rows());
    }
    if ((extras_.has_col_order = file.col_order.has_value())) {
      require_size("column order", file.col_order->size(), file.matrix.cols());
    }
    if ((extras_.has_partition = file.partition.has_value())) add_partition(*file.partition);
    if (file.ranks) add_ranks(*file.ranks);
  }

  const Extras& extras() const { return extras_; }

  /// The content of an optional section of `bytes` bytes, piece by piece.
  std::vector<std::pair<const void*, std::uint64_t>> content(const std::string& name,
                                                             std::uint64_t bytes) const {
    if (name == kRowOrder) return {{file_.row_order->new_of_old(), bytes}};
    if (name == kColOrder) return {{file_.col_order->new_of_old(), bytes}};
    if (name == kPartBorders) return {{file_.partition->borders->data(), bytes}};
    if (name == kRankHeads) return {{rank_words_.data(), bytes}};
    if (name == kRankLists) return {{file_.ranks->list_data(), bytes}};
    if (name == kSplitRows) return {{split_words_.data(), bytes}};
    if (name == kProvenance) return {{file_.provenance.data(), bytes}};
    return {{&file_.partition->parts, sizeof(Index)},
            {file_.partition->part_of_row->data(), bytes - sizeof(Index)}};
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError("cannot write '" + path_ + "': " + why);
  }

  void require_size(const char* what, Offset size, Index expected) const {
    if (size == expected) return;
    refuse(std::string("its ") + what + " has " + std::to_string(size) + " items, the matrix " +
           std::to_string(expected));
  }

  void add_partition(const Partition& partition) {
    const CsrMatrix& matrix = file_.matrix;
    if (partition.part_of_row == nullptr || partition.parts < 0) refuse("its partition is empty");
    require_size("partition", partition.part_of_row->size(), matrix.rows());
    for (const Index part : *partition.part_of_row) {
      if (part < 0 || part >= partition.parts) {
        refuse("its partition has " + counted(partition.parts, "part") + ", but a row is in part " +
               std::to_string(part));
      }
    }
    if (partition.borders == nullptr) return;
    require_size("partition", partition.borders->size() - 1, partition.parts);
    extras_.part_borders_bytes = partition.borders->size_bytes();
    if (matrix.rows() != matrix.cols() ||
        !is_part_borders_size(extras_.part_borders_bytes,
                              static_cast<std::uint64_t>(matrix.rows()))) {
      refuse("part borders are those of a square matrix with no more parts than rows");
    }
  }

  void add_ranks(const RankSections& ranks) {
    const PartHead& last = ranks.levels().back().parts.back();
    if (last.row_end != file_.matrix.rows() || last.col_end != file_.matrix.cols()) {
      refuse("its parts for ranks are those of a matrix of " + std::to_string(last.row_end) +
             " x " + std::to_string(last.col_end));
    }
    rank_words_ = ranks.head_words();
    split_words_ = ranks.split_words();
    extras_.rank_heads_bytes = rank_words_.size() * sizeof(std::int64_t);
    extras_.rank_lists_bytes = ranks.list_bytes();
    extras_.split_rows_bytes = split_words_.size() * sizeof(std::int64_t);
  }

  const std::string& path_;
  const CsrFile& file_;
  Extras extras_;
  std::vector<std::int64_t> rank_words_, split_words_;
};

}  // namespace

void write_csr_file(const std::string& path, const CsrFile& file,
                    const ProgressCallback& progress) {
  const CsrMatrix& matrix = file.matrix;
  require_writable(path, matrix.rows(), matrix.cols(), file.flags, file.provenance);
  const OptionalParts parts(path, file);
  CsrFileHeader header;
  header.value_kind = matrix.value_kind();
  header.rows = matrix.rows();
  header.cols = matrix.cols();
  header.nnz = matrix.nnz();
  header.flags = file.flags;
  header.sections =
      lay_out(header.value_kind, header.rows, header.cols, header.nnz, parts.extras());
  const std::uint64_t total = header.sections.back().offset_bytes;

  AtomicFile out(path);
  std::vector<std::uint64_t> checksums;
  const auto content_of =
      [&](const CsrSection& section) -> std::vector<std::pair<const void*, std::uint64_t>> {
    if (section.name == kRowOffsets) return {{matrix.row_offsets(), section.size_bytes}};
    if (section.name == kColIndices) return {{matrix.col_indices(), section.size_bytes}};
    if (section.name == kValues) return {{matrix.values(), section.size_bytes}};
    return parts.content(section.name, section.size_bytes);
  };
  for (const CsrSection& section : header.sections) {
    if (section.name == kChecksums) break;
    SectionWriter writer(writing_to(out), section.offset_bytes);
    for (const auto& [data, bytes] : content_of(section)) {
      for (std::uint64_t at = 0; at < bytes; at += kSliceBytes) {
        writer.append(static_cast<const char*>(data) + at, std::min(kSliceBytes, bytes - at));
        if (progress) progress("writing", section.offset_bytes + writer.size_bytes(), total);
      }
    }
    writer.finish(&checksums);
  }
  write_checksums_and_header(out, std::move(header), checksums);
  out.commit();
}

}  // namespace csrkit
