#include "core/file/rank_sections.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/counted.h"
#include "core/base/team.h"
#include "core/file/stored_neighbour.h"

namespace csrkit {

using namespace rank_layout;

namespace {

void require_levels(const CsrMatrix& matrix, const std::vector<PartBorders>& levels) {
  if (levels.empty() || levels.size() > static_cast<std::size_t>(kMaxLevels)) {
    throw UsageError("a file holds 1 to " + std::to_string(kMaxLevels) + " levels of parts, not " +
                     std::to_string(levels.size()));
  }
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Index parts = levels[l].parts();
    if (parts < 1 || parts > std::min<Index>(matrix.rows(), kMaxParts)) {
      throw UsageError("a matrix of " + counted(matrix.rows(), "row") + " has 1 to " +
                       counted(std::min<Index>(matrix.rows(), kMaxParts), "part") + ", not " +
                       std::to_string(parts));
    }
    if (matrix.rows() == matrix.cols() && levels[l].rows != levels[l].cols) {
      throw UsageError("parts of a square matrix own the columns of their rows");
    }
    if (l == 0) continue;
    const Index before = levels[l - 1].parts();
    if (parts <= before || parts % before != 0) {
      throw UsageError("numbers of parts must divide each other: " + std::to_string(before) +
                       " does not divide " + std::to_string(parts));
    }
    const auto ratio = static_cast<std::size_t>(parts / before);
    for (std::size_t p = 0; p <= static_cast<std::size_t>(before); ++p) {
      if (levels[l].rows[p * ratio] != levels[l - 1].rows[p] ||
          levels[l].cols[p * ratio] != levels[l - 1].cols[p]) {
        throw UsageError("every part of " + std::to_string(before) + " must be made of " +
                         std::to_string(ratio) + " consecutive parts of " + std::to_string(parts));
      }
    }
  }
}

/// The words of a level's heads, after which those of the next follow.
void append_heads(const std::vector<PartLevel>& levels, std::size_t level,
                  std::vector<std::int64_t>* words) {
  std::uint64_t lists_at = list_begin(levels, level, 0);
  for (const PartHead& head : levels[level].parts) {
    for (const std::int64_t word :
         {std::int64_t{head.row_begin}, std::int64_t{head.row_end}, std::int64_t{head.col_begin},
          std::int64_t{head.col_end}, head.entries, head.own_entries, std::int64_t{head.halo_cols},
          head.send_cols, std::int64_t{head.neighbours}, static_cast<std::int64_t>(lists_at)}) {
      words->push_back(word);
    }
    lists_at += record_bytes(head);
  }
}

/// Throws UsageError if the section `split_rows` would be larger than a file may hold.
void require_few_pieces(const SplitRows& split) {
  if (1 + split.rows.size() + split.begins.size() <= kMaxSplitWords) return;
  throw UsageError(counted(split.rows.size(), "row") + " split among " +
                   counted(split.parts, "part") + " have more than " +
                   std::to_string(kMaxSplitWords) + " pieces; split fewer, longer rows");
}

/// The columns of a part's halo, ascending, and so grouped by the neighbours that own them.
using Halo = Buffer<Index>;

/// `level_cols`: where the columns of each part begin.
Halo halo_of(const std::vector<Neighbour>& received, HaloBits bits,
             const std::vector<Index>& level_cols, int threads) {
  std::vector<Offset> begins;
  Offset count = 0;
  for (const Neighbour& from : received) {
    begins.push_back(count);
    count += from.halo_cols;
  }
  Halo halo(count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(team_for(count, threads))
  for (std::size_t n = 0; n < received.size(); ++n) {
    const auto owner = static_cast<std::size_t>(received[n].part);
    Index* to = halo.data() + begins[n];
    bits.for_each(level_cols[owner], level_cols[owner + 1], [&](Index col) { *to++ = col; });
  }
  return halo;
}

/// Writes the record of a part from its beginning up to its halo. Returns the place of its columns
/// to send.
Index* write_record(const PartHead& head, const std::vector<Neighbour>& neighbours,
                    const Halo& halo, unsigned char* record) {
  const std::uint64_t bytes = record_bytes(head);
  const std::uint64_t tail = std::min(bytes, kListAlignment);
  if (tail > 0) std::memset(record + bytes - tail, 0, tail);
  for (const Neighbour& neighbour : neighbours) {
    const StoredNeighbour stored{neighbour.part, neighbour.halo_cols, neighbour.send_cols, 0};
    std::memcpy(record, &stored, sizeof stored);
    record += sizeof stored;
  }
  if (halo.size() > 0) std::memcpy(record, halo.data(), halo.size_bytes());
  return reinterpret_cast<Index*>(record) + halo.size();
}

/// Writes the lists of a level, which begin at `record`, and frees the halos.
void write_lists(const CountedLevel& level, std::vector<Halo>& halos, unsigned char* record) {
  const std::vector<PartHead>& parts = level.level.parts;
  std::vector<Index*> next_send;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    next_send.push_back(write_record(parts[p], level.neighbours[p], halos[p], record));
    record += record_bytes(parts[p]);
  }
  // A part's halo is what its neighbours send, each of them to it: so parts in ascending order fill
  // the lists of all that send to them from left to right.
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Index* from = halos[p].data();
    for (const Neighbour& neighbour : level.neighbours[p]) {
      if (neighbour.halo_cols == 0) continue;
      Index*& to = next_send[static_cast<std::size_t>(neighbour.part)];
      std::memcpy(to, from, static_cast<std::size_t>(neighbour.halo_cols) * sizeof(Index));
      to += neighbour.halo_cols;
      from += neighbour.halo_cols;
    }
    halos[p] = Halo();
  }
}

}  // namespace

RankSections RankSections::of(const CsrMatrix& matrix, const std::vector<PartBorders>& borders,
                              int threads, const ProgressCallback& progress,
                              const std::vector<Index>& split_rows) {
  require_levels(matrix, borders);
  SplitRows split = find_split_rows(matrix, split_rows, borders.back().cols);
  require_few_pieces(split);
  std::vector<std::vector<Halo>> halos(borders.size());
  const auto keep_halo = [&](std::size_t level, Index, const std::vector<Neighbour>& received,
                             HaloBits bits) {
    halos[level].push_back(halo_of(received, bits, borders[level].cols, threads));
  };
  const std::vector<CountedLevel> counted =
      count_parts(matrix, borders, threads, progress, keep_halo, split_rows);

  std::vector<PartLevel> levels;
  levels.reserve(counted.size());
  for (const CountedLevel& level : counted) levels.push_back(level.level);
  const auto bytes = static_cast<Offset>(list_begin(levels, levels.size(), 0));
  const auto lists = std::make_shared<Buffer<unsigned char>>(bytes);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    write_lists(counted[l], halos[l], lists->data() + list_begin(levels, l, 0));
  }
  for (PartLevel& level : levels) count_pieces(split, &level);
  return {std::move(levels), lists->data(), lists, std::move(split)};
}

RankSections::RankSections(std::vector<PartLevel> levels, const unsigned char* lists,
                           std::shared_ptr<const void> owner, SplitRows split)
    : levels_(std::move(levels)),
      lists_(lists),
      owner_(std::move(owner)),
      split_(std::move(split)) {}

PartLists RankSections::lists(std::size_t level, Index part) const {
  const std::uint64_t begin = list_begin(levels_, level, part);
  PartLists lists = decode_lists(levels_[level], part, lists_ + begin, {"rank_lists", begin});
  list_pieces(split_, levels_[level], part, &lists);
  return lists;
}

std::vector<std::int64_t> RankSections::split_words() const {
  if (split_.is_empty()) return {};
  std::vector<std::int64_t> words{static_cast<std::int64_t>(split_.rows.size())};
  words.insert(words.end(), split_.rows.begin(), split_.rows.end());
  words.insert(words.end(), split_.begins.begin(), split_.begins.end());
  return words;
}

std::vector<std::int64_t> RankSections::head_words() const {
  std::vector<std::int64_t> words{static_cast<std::int64_t>(levels_.size())};
  for (const PartLevel& level : levels_) {
    words.push_back(static_cast<std::int64_t>(level.parts.size()));
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) append_heads(levels_, l, &words);
  return words;
}

std::uint64_t RankSections::list_bytes() const { return list_begin(levels_, levels_.size(), 0); }

}  // namespace csrkit
