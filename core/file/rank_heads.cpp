// The numbers of `rank_heads` and `split_rows`: decoded, and checked against each other.
// core/file/rank_sections.cpp makes them.
#include <algorithm>
#include <tuple>

#include "core/base/counted.h"
#include "core/file/csr_file_checks.h"
#include "core/file/rank_sections.h"

namespace csrkit {

namespace rank_layout {

namespace {

[[noreturn]] void fail_word(const Place& place, std::uint64_t word, const std::string& what,
                            std::int64_t found) {
  fail_at(place.path, place.offset_bytes + word * sizeof(std::int64_t),
          "expected " + what + ", found " + std::to_string(found) + "; create the file again");
}

/// A head that is read: its words, checked one by one against what the heads before it leave.
struct HeadReader {
  const std::int64_t* words;
  std::uint64_t word;  // the head's first
  const std::string of;
  const Place& place;

  std::int64_t take(std::uint64_t field, const char* name, std::int64_t least,
                    std::int64_t most) const {
    const std::int64_t value = words[word + field];
    if (value < least || value > most) {
      fail_word(place, word + field,
                name + of +
                    (least == most ? " to be " + std::to_string(least)
                                   : " to be in [" + std::to_string(least) + ", " +
                                         std::to_string(most) + "]"),
                value);
    }
    return value;
  }
};

/// What the heads of a level have to add up to, and where they stand.
struct LevelTotals {
  Index parts, rows, cols;
  Offset nnz;
  bool has_split_rows;
};

/// `entries_left` are those that the heads before have not.
PartHead decode_head(const HeadReader& reader, const PartHead& before, bool is_last,
                     Offset entries_left, const LevelTotals& all) {
  PartHead head;
  head.row_begin = static_cast<Index>(reader.take(0, "row_begin", before.row_end, before.row_end));
  head.row_end =
      static_cast<Index>(reader.take(1, "row_end", is_last ? all.rows : head.row_begin, all.rows));
  head.col_begin = static_cast<Index>(reader.take(2, "col_begin", before.col_end, before.col_end));
  const bool is_square = all.rows == all.cols;
  head.col_end = static_cast<Index>(reader.take(3, "col_end",
                                                is_square ? head.row_end
                                                : is_last ? all.cols
                                                          : head.col_begin,
                                                is_square ? head.row_end : all.cols));
  head.entries =
      reader.take(4, "entries", is_last && !all.has_split_rows ? entries_left : 0, entries_left);
  head.own_entries = reader.take(5, "own_entries", 0, head.entries);
  const Offset foreign = head.entries - head.own_entries;
  head.halo_cols = static_cast<Index>(
      reader.take(6, "halo_cols", foreign > 0 ? 1 : 0,
                  std::min<Offset>(foreign, Offset{all.cols} - head.own_cols())));
  head.send_cols = reader.take(7, "send_cols", 0, Offset{head.own_cols()} * (all.parts - 1));
  const Offset exchanged = head.halo_cols + head.send_cols;
  head.neighbours = static_cast<Index>(reader.take(8, "neighbours", exchanged > 0 ? 1 : 0,
                                                   std::min<Offset>(exchanged, all.parts - 1)));
  return head;
}

/// Reads the heads of one level; `word` is the first of them.
PartLevel decode_level(const std::int64_t* words, std::uint64_t word, const LevelTotals& all,
                       const SplitRows& split, const Place& place) {
  PartLevel level;
  Offset halo_sum = 0, send_sum = 0, entry_sum = 0;
  const std::string of_parts = " of " + std::to_string(all.parts);
  for (Index p = 0; p < all.parts; ++p, word += kHeadWords) {
    const HeadReader reader{words, word, " of part " + std::to_string(p) + of_parts, place};
    const PartHead head = decode_head(reader, p == 0 ? PartHead{} : level.parts.back(),
                                      p + 1 == all.parts, all.nnz - entry_sum, all);
    entry_sum += head.entries;
    halo_sum += head.halo_cols;
    send_sum += head.send_cols;
    level.parts.push_back(head);
  }
  if (send_sum != halo_sum) {
    fail_word(place, word - kHeadWords + 7,
              "the " + counted(all.parts, "part") + " to send the " + counted(halo_sum, "column") +
                  " of their halos",
              send_sum);
  }
  count_pieces(split, &level);
  for (const PartHead& head : level.parts) entry_sum += head.piece_entries;
  if (entry_sum != all.nnz) {
    fail_word(place, word - kHeadWords + 4,
              counted(all.parts, "part") + " to have " + std::to_string(all.nnz) +
                  " entries, pieces of split rows among them",
              entry_sum);
  }
  return level;
}

/// `parts` are those of the finest level.
SplitRows decode_split_rows(const StoredWords& stored, Index parts, Index rows, Offset nnz) {
  SplitRows split;
  if (stored.words == nullptr) return split;
  const std::int64_t* const words = stored.words;
  const std::uint64_t count = stored.bytes / sizeof(std::int64_t);
  const std::uint64_t of_a_row = 2 + static_cast<std::uint64_t>(parts);
  if (words[0] < 1 || static_cast<std::uint64_t>(words[0]) != (count - 1) / of_a_row ||
      (count - 1) % of_a_row != 0) {
    fail_word(stored.place, 0,
              "a number of split rows that, with " + counted(parts + 1, "place") +
                  " for each, takes " + counted(stored.bytes, "byte"),
              words[0]);
  }
  const auto split_count = static_cast<std::uint64_t>(words[0]);
  split.parts = parts;
  for (std::uint64_t word = 1; word <= split_count; ++word) {
    const std::int64_t least = word == 1 ? 0 : words[word - 1] + 1;
    if (words[word] < least || words[word] >= rows) {
      fail_word(stored.place, word, "split rows that ascend below " + std::to_string(rows),
                words[word]);
    }
    split.rows.push_back(static_cast<Index>(words[word]));
  }
  for (std::uint64_t word = 1 + split_count; word < count; ++word) {
    const std::int64_t least = word == 1 + split_count ? 0 : words[word - 1];
    if (words[word] < least || words[word] > nnz) {
      fail_word(stored.place, word,
                "places of entries that do not decrease, up to " + std::to_string(nnz),
                words[word]);
    }
    split.begins.push_back(words[word]);
  }
  return split;
}

/// Every part of a level is made of equally many consecutive parts of the next one.
void require_nested(const std::vector<PartLevel>& levels, const Place& place) {
  std::uint64_t word = 1 + levels.size();
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    const std::vector<PartHead>&coarse = levels[l].parts, &fine = levels[l + 1].parts;
    const std::size_t ratio = fine.size() / coarse.size();
    for (std::size_t p = 0; p < coarse.size(); ++p, word += kHeadWords) {
      const PartHead& last = fine[(p + 1) * ratio - 1];
      for (const auto& [field, found, expected] :
           {std::tuple{1, coarse[p].row_end, last.row_end}, {3, coarse[p].col_end, last.col_end}}) {
        if (found == expected) continue;
        fail_word(place, word + static_cast<std::uint64_t>(field),
                  "part " + std::to_string(p) + " of " + std::to_string(coarse.size()) +
                      " to end where part " + std::to_string((p + 1) * ratio - 1) + " of " +
                      std::to_string(fine.size()) + " does, at " + std::to_string(expected),
                  found);
      }
    }
  }
}

/// The number of levels, after checks of their numbers of parts and of the section's size.
std::uint64_t checked_level_count(const StoredWords& stored, Index rows) {
  const std::int64_t* const words = stored.words;
  const std::uint64_t count = stored.bytes / sizeof(std::int64_t);
  if (words[0] < 1 || words[0] > kMaxLevels || static_cast<std::uint64_t>(words[0]) >= count) {
    fail_word(stored.place, 0, "1 to 16 levels of parts", words[0]);
  }
  const auto level_count = static_cast<std::uint64_t>(words[0]);
  std::uint64_t expected = 1 + level_count;
  for (std::uint64_t l = 1; l <= level_count; ++l) {
    const std::int64_t parts = words[l];
    const std::int64_t before = l == 1 ? 0 : words[l - 1];
    const bool is_good = parts > before && parts <= std::min<Index>(rows, kMaxParts) &&
                         (before == 0 || parts % before == 0);
    if (!is_good) {
      fail_word(stored.place, l,
                "numbers of parts up to " + std::to_string(std::min<Index>(rows, kMaxParts)) +
                    ", each a multiple of the one before",
                parts);
    }
    expected += static_cast<std::uint64_t>(parts) * kHeadWords;
  }
  if (count != expected) {
    fail_word(stored.place, 0, "levels of " + counted(expected, "word") + " in all",
              static_cast<std::int64_t>(count));
  }
  return level_count;
}

/// Where lists begin follows from the counts before, and so does the size of their section.
void require_lists_in_order(const StoredWords& stored, const std::vector<PartLevel>& levels,
                            std::uint64_t lists_bytes) {
  std::uint64_t word = 1 + levels.size();
  std::uint64_t lists_at = 0;
  for (const PartLevel& level : levels) {
    for (const PartHead& head : level.parts) {
      const std::int64_t found = stored.words[word + 9];
      if (found != static_cast<std::int64_t>(lists_at)) {
        fail_word(stored.place, word + 9, "lists_at to be " + std::to_string(lists_at), found);
      }
      lists_at += record_bytes(head);
      word += kHeadWords;
    }
  }
  if (lists_at != lists_bytes) {
    fail_word(stored.place, 0,
              "parts whose lists take the " + counted(lists_bytes, "byte") + " of rank_lists",
              static_cast<std::int64_t>(lists_at));
  }
}

}  // namespace

bool is_rank_heads_size(std::uint64_t bytes, std::uint64_t rows) {
  const std::uint64_t most = std::min<std::uint64_t>(rows, kMaxParts);
  // Numbers of parts at least double from level to level, so all of them are below twice the last.
  return bytes % sizeof(std::int64_t) == 0 && bytes > sizeof(std::int64_t) &&
         bytes / sizeof(std::int64_t) <= 1 + kMaxLevels + 2 * most * kHeadWords;
}

bool is_split_rows_size(std::uint64_t bytes) {
  return bytes % sizeof(std::int64_t) == 0 && bytes >= 4 * sizeof(std::int64_t) &&
         bytes / sizeof(std::int64_t) <= kMaxSplitWords;
}

Heads decode_heads(const StoredWords& stored, Index rows, Index cols, Offset nnz,
                   std::uint64_t lists_bytes, const StoredWords& split) {
  const std::uint64_t level_count = checked_level_count(stored, rows);
  Heads heads;
  heads.split = decode_split_rows(split, static_cast<Index>(stored.words[level_count]), rows, nnz);
  std::uint64_t word = 1 + level_count;
  for (std::uint64_t l = 1; l <= level_count; ++l) {
    const auto parts = static_cast<Index>(stored.words[l]);
    heads.levels.push_back(decode_level(stored.words, word,
                                        {parts, rows, cols, nnz, !heads.split.is_empty()},
                                        heads.split, stored.place));
    word += static_cast<std::uint64_t>(parts) * kHeadWords;
  }
  require_nested(heads.levels, stored.place);
  require_lists_in_order(stored, heads.levels, lists_bytes);
  return heads;
}

void check_split_rows(const Heads& heads, const CsrMatrix& matrix, const Place& place) {
  if (heads.split.is_empty()) return;
  std::vector<Index> cols = {0};
  for (const PartHead& head : heads.levels.back().parts) cols.push_back(head.col_end);
  const SplitRows wanted = find_split_rows(matrix, heads.split.rows, cols);
  for (std::size_t i = 0; i < wanted.begins.size(); ++i) {
    if (heads.split.begins[i] == wanted.begins[i]) continue;
    fail_word(place, 1 + wanted.rows.size() + i,
              "the place of entry " + std::to_string(wanted.begins[i]) +
                  ", where the columns of a part begin in row " +
                  std::to_string(wanted.rows[i / cols.size()]),
              heads.split.begins[i]);
  }
}

}  // namespace rank_layout

}  // namespace csrkit
