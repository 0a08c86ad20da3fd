// The sections `rank_heads`, `rank_lists` and `split_rows` of a .csr file: partitions for several
// ranks, made once and stored. docs/csr_file_format.md specifies their bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/matrix/split_rows.h"

namespace csrkit {

/// Levels of parts with their lists, as a file stores them. Copies share the lists.
class RankSections {
 public:
  /// Counts and lists the parts of a matrix, in one pass over the entries. Throws UsageError unless
  /// each number of parts divides the next larger one and every part is made of consecutive parts
  /// of the next level. Takes 12 bytes for each column of a halo while it works, and keeps 8 of
  /// them. `split_rows` ascend.
  static RankSections of(const CsrMatrix& matrix, const std::vector<PartBorders>& levels,
                         int threads = 0, const ProgressCallback& progress = {},
                         const std::vector<Index>& split_rows = {});

  /// Sections that have been checked, the lists in the memory of `owner`.
  RankSections(std::vector<PartLevel> levels, const unsigned char* lists,
               std::shared_ptr<const void> owner, SplitRows split = {});

  /// By their number of parts, ascending.
  const std::vector<PartLevel>& levels() const { return levels_; }

  const SplitRows& split_rows() const { return split_; }

  PartLists lists(std::size_t level, Index part) const;

  /// The content of `rank_heads`.
  std::vector<std::int64_t> head_words() const;
  /// The content of `rank_lists`.
  const unsigned char* list_data() const { return lists_; }
  std::uint64_t list_bytes() const;
  /// The content of `split_rows`; empty if no row is split.
  std::vector<std::int64_t> split_words() const;

 private:
  std::vector<PartLevel> levels_;
  const unsigned char* lists_ = nullptr;
  std::shared_ptr<const void> owner_;
  SplitRows split_;
};

namespace rank_layout {

inline constexpr Index kMaxParts = 1 << 16;
inline constexpr int kMaxLevels = 16;
inline constexpr std::uint64_t kHeadWords = 10;  // of a part
inline constexpr std::uint64_t kListAlignment = 64;

/// Whether `rank_heads` may have that size, judged by the header alone.
bool is_rank_heads_size(std::uint64_t bytes, std::uint64_t rows);

/// Bytes of a part's lists, and where they begin in `rank_lists`.
std::uint64_t record_bytes(const PartHead& head);
std::uint64_t list_begin(const std::vector<PartLevel>& levels, std::size_t level, Index part);

/// Where a section begins, for messages: "path: byte N: ...".
struct Place {
  std::string path;
  std::uint64_t offset_bytes = 0;
};

/// The most words of `split_rows`, 8 bytes each.
inline constexpr std::uint64_t kMaxSplitWords = 1 << 24;
bool is_split_rows_size(std::uint64_t bytes);

/// A section as a file stores it; without words it is not there.
struct StoredWords {
  const std::int64_t* words = nullptr;
  std::uint64_t bytes = 0;
  Place place;
};

/// The content of `rank_heads` and `split_rows`.
struct Heads {
  std::vector<PartLevel> levels;
  SplitRows split;
};

/// Decodes `rank_heads` and, if rows are split, `split_rows`. Checks all numbers against each other
/// and against the matrix; throws InputError.
Heads decode_heads(const StoredWords& stored, Index rows, Index cols, Offset nnz,
                   std::uint64_t lists_bytes, const StoredWords& split = {});

/// Checks the places of pieces against the columns of the entries. Throws InputError.
void check_split_rows(const Heads& heads, const CsrMatrix& matrix, const Place& place);

/// Checks the lists of one part, which begin at `record`: neighbours, ids in range, ascending and
/// with the right owner, padding. `place` is that of `record`. Throws InputError.
void check_lists(const PartLevel& level, Index part, const unsigned char* record,
                 const Place& place);

/// The same, and a copy of them.
PartLists decode_lists(const PartLevel& level, Index part, const unsigned char* record,
                       const Place& place);

/// Checks all lists, and that what a part sends is what its neighbour expects. Parallel.
void check_all_lists(const std::vector<PartLevel>& levels, const unsigned char* lists,
                     const Place& place);

}  // namespace rank_layout

}  // namespace csrkit
