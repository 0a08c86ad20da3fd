// The bytes of `rank_heads`, `rank_lists` and `split_rows`: decoded and checked.
// core/file/rank_sections.cpp makes them.
#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/base/counted.h"
#include "core/base/team_errors.h"
#include "core/file/csr_file_checks.h"
#include "core/file/rank_sections.h"
#include "core/file/stored_neighbour.h"

namespace csrkit {

namespace rank_layout {

namespace {

/// The three parts of a record.
struct Record {
  const StoredNeighbour* neighbours;
  const Index* halo;
  const Index* sends;
  const Index* end;
};

Record record_at(const PartHead& head, const unsigned char* bytes) {
  Record record{};
  record.neighbours = reinterpret_cast<const StoredNeighbour*>(bytes);
  record.halo = reinterpret_cast<const Index*>(record.neighbours + head.neighbours);
  record.sends = record.halo + head.halo_cols;
  record.end = record.sends + head.send_cols;
  return record;
}

[[noreturn]] void fail_word(const Place& place, std::uint64_t word, const std::string& what,
                            std::int64_t found) {
  fail_at(place.path, place.offset_bytes + word * sizeof(std::int64_t),
          "expected " + what + ", found " + std::to_string(found) + "; create the file again");
}

/// Reads the heads of one level; `word` is the first of them.
PartLevel decode_level(const std::int64_t* words, std::uint64_t word, Index parts, Index rows,
                       Index cols, Offset nnz, const SplitRows& split, const Place& place) {
  PartLevel level;
  Offset halo_sum = 0, send_sum = 0, entry_sum = 0;
  for (Index p = 0; p < parts; ++p, word += kHeadWords) {
    const std::string of = " of part " + std::to_string(p) + " of " + std::to_string(parts);
    const bool is_last = p + 1 == parts;
    const auto take = [&](std::uint64_t field, const char* name, std::int64_t least,
                          std::int64_t most) {
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
    };
    const PartHead before = p == 0 ? PartHead{} : level.parts.back();
    PartHead head;
    head.row_begin = static_cast<Index>(take(0, "row_begin", before.row_end, before.row_end));
    head.row_end = static_cast<Index>(take(1, "row_end", is_last ? rows : head.row_begin, rows));
    head.col_begin = static_cast<Index>(take(2, "col_begin", before.col_end, before.col_end));
    const bool is_square = rows == cols;
    head.col_end = static_cast<Index>(take(3, "col_end",
                                           is_square ? head.row_end
                                           : is_last ? cols
                                                     : head.col_begin,
                                           is_square ? head.row_end : cols));
    head.entries =
        take(4, "entries", is_last && split.is_empty() ? nnz - entry_sum : 0, nnz - entry_sum);
    head.own_entries = take(5, "own_entries", 0, head.entries);
    const Offset foreign = head.entries - head.own_entries;
    head.halo_cols =
        static_cast<Index>(take(6, "halo_cols", foreign > 0 ? 1 : 0,
                                std::min<Offset>(foreign, Offset{cols} - head.own_cols())));
    head.send_cols = take(7, "send_cols", 0, Offset{head.own_cols()} * (parts - 1));
    const Offset exchanged = head.halo_cols + head.send_cols;
    head.neighbours = static_cast<Index>(
        take(8, "neighbours", exchanged > 0 ? 1 : 0, std::min<Offset>(exchanged, parts - 1)));
    entry_sum += head.entries;
    halo_sum += head.halo_cols;
    send_sum += head.send_cols;
    level.parts.push_back(head);
  }
  if (send_sum != halo_sum) {
    fail_word(place, word - kHeadWords + 7,
              "the " + counted(parts, "part") + " to send the " + counted(halo_sum, "column") +
                  " of their halos",
              send_sum);
  }
  count_pieces(split, &level);
  for (const PartHead& head : level.parts) entry_sum += head.piece_entries;
  if (entry_sum != nnz) {
    fail_word(place, word - kHeadWords + 4,
              counted(parts, "part") + " to have " + std::to_string(nnz) +
                  " entries, pieces of split rows among them",
              entry_sum);
  }
  return level;
}

/// `parts` are those of the finest level.
SplitRows decode_split_rows(const SplitWords& stored, Index parts, Index rows, Offset nnz) {
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

std::uint64_t record_bytes(const PartHead& head) {
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(head.neighbours) * sizeof(StoredNeighbour) +
      (static_cast<std::uint64_t>(head.halo_cols) + static_cast<std::uint64_t>(head.send_cols)) *
          sizeof(Index);
  return (bytes + kListAlignment - 1) / kListAlignment * kListAlignment;
}

std::uint64_t list_begin(const std::vector<PartLevel>& levels, std::size_t level, Index part) {
  std::uint64_t begin = 0;
  for (std::size_t l = 0; l <= level && l < levels.size(); ++l) {
    const std::vector<PartHead>& parts = levels[l].parts;
    const std::size_t count = l < level ? parts.size() : static_cast<std::size_t>(part);
    for (std::size_t p = 0; p < count; ++p) begin += record_bytes(parts[p]);
  }
  return begin;
}

Heads decode_heads(const std::int64_t* words, std::uint64_t bytes, Index rows, Index cols,
                   Offset nnz, std::uint64_t lists_bytes, const Place& place,
                   const SplitWords& split) {
  const std::uint64_t count = bytes / sizeof(std::int64_t);
  if (words[0] < 1 || words[0] > kMaxLevels || static_cast<std::uint64_t>(words[0]) >= count) {
    fail_word(place, 0, "1 to 16 levels of parts", words[0]);
  }
  const auto level_count = static_cast<std::uint64_t>(words[0]);
  std::uint64_t expected = 1 + level_count;
  for (std::uint64_t l = 1; l <= level_count; ++l) {
    const std::int64_t parts = words[l];
    const std::int64_t before = l == 1 ? 0 : words[l - 1];
    const bool is_good = parts > before && parts <= std::min<Index>(rows, kMaxParts) &&
                         (before == 0 || parts % before == 0);
    if (!is_good) {
      fail_word(place, l,
                "numbers of parts up to " + std::to_string(std::min<Index>(rows, kMaxParts)) +
                    ", each a multiple of the one before",
                parts);
    }
    expected += static_cast<std::uint64_t>(parts) * kHeadWords;
  }
  if (count != expected) {
    fail_word(place, 0, "levels of " + counted(expected, "word") + " in all",
              static_cast<std::int64_t>(count));
  }
  Heads heads;
  heads.split = decode_split_rows(split, static_cast<Index>(words[level_count]), rows, nnz);
  std::vector<PartLevel>& levels = heads.levels;
  std::uint64_t word = 1 + level_count;
  for (std::uint64_t l = 1; l <= level_count; ++l) {
    const auto parts = static_cast<Index>(words[l]);
    levels.push_back(decode_level(words, word, parts, rows, cols, nnz, heads.split, place));
    word += static_cast<std::uint64_t>(parts) * kHeadWords;
  }
  require_nested(levels, place);
  // Where lists begin follows from the counts before, and so does the size of their section.
  word = 1 + level_count;
  std::uint64_t lists_at = 0;
  for (const PartLevel& level : levels) {
    for (const PartHead& head : level.parts) {
      if (words[word + 9] != static_cast<std::int64_t>(lists_at)) {
        fail_word(place, word + 9, "lists_at to be " + std::to_string(lists_at), words[word + 9]);
      }
      lists_at += record_bytes(head);
      word += kHeadWords;
    }
  }
  if (lists_at != lists_bytes) {
    fail_word(place, 0,
              "parts whose lists take the " + counted(lists_bytes, "byte") + " of rank_lists",
              static_cast<std::int64_t>(lists_at));
  }
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

void check_lists(const PartLevel& level, Index part, const unsigned char* bytes,
                 const Place& place) {
  const PartHead& head = level.parts[static_cast<std::size_t>(part)];
  const Record record = record_at(head, bytes);
  const std::string of =
      " of part " + std::to_string(part) + " of " + std::to_string(level.parts.size());
  const auto fail = [&](const void* at, const std::string& what, std::int64_t found) {
    const auto distance = static_cast<const unsigned char*>(at) - bytes;
    fail_at(
        place.path, place.offset_bytes + static_cast<std::uint64_t>(distance),
        "expected " + what + of + ", found " + std::to_string(found) + "; create the file again");
  };
  Offset halo_left = head.halo_cols, send_left = head.send_cols;
  Index before = -1;
  for (Index n = 0; n < head.neighbours; ++n) {
    const StoredNeighbour& next = record.neighbours[n];
    if (next.part <= before || next.part == part ||
        next.part >= static_cast<Index>(level.parts.size())) {
      fail(&next.part, "ascending numbers of other parts as neighbours", next.part);
    }
    const PartHead& other = level.parts[static_cast<std::size_t>(next.part)];
    if (next.halo_cols < 0 || next.halo_cols > std::min<Offset>(halo_left, other.own_cols())) {
      fail(&next.halo_cols, "neighbours that add up to the halo", next.halo_cols);
    }
    if (next.send_cols < 0 || next.send_cols > std::min<Offset>(send_left, head.own_cols())) {
      fail(&next.send_cols, "neighbours that add up to the columns sent", next.send_cols);
    }
    if (next.halo_cols + Offset{next.send_cols} == 0) {
      fail(&next.halo_cols, "neighbours with which columns are exchanged", 0);
    }
    if (next.reserved != 0) fail(&next.reserved, "a reserved 0", next.reserved);
    before = next.part;
    halo_left -= next.halo_cols;
    send_left -= next.send_cols;
  }
  if (halo_left != 0 || send_left != 0) {
    fail(record.neighbours, "neighbours that add up to halo and columns sent",
         halo_left + send_left);
  }
  const Index *halo = record.halo, *sends = record.sends;
  for (Index n = 0; n < head.neighbours; ++n) {
    const StoredNeighbour& next = record.neighbours[n];
    const PartHead& other = level.parts[static_cast<std::size_t>(next.part)];
    const auto check_run = [&](const Index*& at, Index count, const PartHead& owner,
                               const char* what) {
      for (Index i = 0; i < count; ++i, ++at) {
        if (*at < owner.col_begin || *at >= owner.col_end || (i > 0 && *at <= at[-1])) {
          fail(at,
               std::string(what) + " that ascend within [" + std::to_string(owner.col_begin) +
                   ", " + std::to_string(owner.col_end) + ")",
               *at);
        }
      }
    };
    check_run(halo, next.halo_cols, other, "columns of the halo");
    check_run(sends, next.send_cols, head, "columns to send");
  }
  const auto* end = reinterpret_cast<const unsigned char*>(record.end);
  for (const unsigned char* at = end; at < bytes + record_bytes(head); ++at) {
    if (*at != 0) fail(at, "padding of 0 after the lists", *at);
  }
}

PartLists decode_lists(const PartLevel& level, Index part, const unsigned char* bytes,
                       const Place& place) {
  check_lists(level, part, bytes, place);
  PartLists lists;
  lists.head = level.parts[static_cast<std::size_t>(part)];
  const Record record = record_at(lists.head, bytes);
  for (Index n = 0; n < lists.head.neighbours; ++n) {
    const StoredNeighbour& next = record.neighbours[n];
    lists.neighbours.push_back({next.part, next.halo_cols, next.send_cols});
  }
  lists.halo = Buffer<Index>::copy_of(record.halo, lists.head.halo_cols);
  lists.sends = Buffer<Index>::copy_of(record.sends, lists.head.send_cols);
  return lists;
}

void check_all_lists(const std::vector<PartLevel>& levels, const unsigned char* lists,
                     const Place& place) {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const PartLevel& level = levels[l];
    const auto parts = static_cast<Index>(level.parts.size());
    std::vector<std::uint64_t> begins;
    std::uint64_t begin = list_begin(levels, l, 0);
    for (const PartHead& head : level.parts) {
      begins.push_back(begin);
      begin += record_bytes(head);
    }
    const auto part_record = [&](Index part) {
      return record_at(level.parts[static_cast<std::size_t>(part)],
                       lists + begins[static_cast<std::size_t>(part)]);
    };
    std::vector<std::vector<Offset>> send_begins(level.parts.size());  // of each neighbour
    TeamErrors errors;
#pragma omp parallel for schedule(dynamic, 1)
    for (Index part = 0; part < parts; ++part) {
      errors.guard([&] {
        const auto p = static_cast<std::size_t>(part);
        check_lists(level, part, lists + begins[p], {place.path, place.offset_bytes + begins[p]});
        Offset begin_of_sends = 0;
        for (Index n = 0; n < level.parts[p].neighbours; ++n) {
          send_begins[p].push_back(begin_of_sends);
          begin_of_sends += part_record(part).neighbours[n].send_cols;
        }
      });
    }
    errors.rethrow();
    // What a part sends against what its neighbour expects; sums are equal, so one way suffices.
#pragma omp parallel for schedule(dynamic, 1)
    for (Index part = 0; part < parts; ++part) {
      errors.guard([&] {
        const Record mine = part_record(part);
        const Index* halo = mine.halo;
        for (Index n = 0; n < level.parts[static_cast<std::size_t>(part)].neighbours; ++n) {
          const StoredNeighbour& from = mine.neighbours[n];
          const Record theirs = part_record(from.part);
          const std::vector<Offset>& begins_there =
              send_begins[static_cast<std::size_t>(from.part)];
          const StoredNeighbour* end = theirs.neighbours + begins_there.size();
          const StoredNeighbour* to = std::lower_bound(
              theirs.neighbours, end, part,
              [](const StoredNeighbour& a, Index wanted) { return a.part < wanted; });
          const Index sent = to == end || to->part != part ? 0 : to->send_cols;
          if (sent != from.halo_cols ||
              (sent > 0 &&
               !std::equal(halo, halo + sent,
                           theirs.sends +
                               begins_there[static_cast<std::size_t>(to - theirs.neighbours)]))) {
            const auto where = reinterpret_cast<const unsigned char*>(halo) - lists;
            fail_at(place.path, place.offset_bytes + static_cast<std::uint64_t>(where),
                    "expected the columns that part " + std::to_string(from.part) + " of " +
                        std::to_string(parts) + " sends to part " + std::to_string(part) +
                        ", found others; create the file again");
          }
          halo += from.halo_cols;
        }
      });
    }
    errors.rethrow();
  }
}

}  // namespace rank_layout

}  // namespace csrkit
