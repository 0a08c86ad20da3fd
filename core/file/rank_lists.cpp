// The lists of `rank_lists`: decoded, and checked against the heads. core/file/rank_sections.cpp
// makes them.
#include <algorithm>

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

/// The record of a part that is checked, and errors that name where in it.
struct CheckedRecord {
  const PartLevel& level;
  Index part;
  const unsigned char* bytes;
  const Place& place;
  const PartHead& head = level.parts[static_cast<std::size_t>(part)];
  const Record record = record_at(head, bytes);

  const PartHead& head_of(const StoredNeighbour& neighbour) const {
    return level.parts[static_cast<std::size_t>(neighbour.part)];
  }

  [[noreturn]] void fail(const void* at, const std::string& what, std::int64_t found) const {
    const auto distance = static_cast<const unsigned char*>(at) - bytes;
    fail_at(place.path, place.offset_bytes + static_cast<std::uint64_t>(distance),
            "expected " + what + " of part " + std::to_string(part) + " of " +
                std::to_string(level.parts.size()) + ", found " + std::to_string(found) +
                "; create the file again");
  }

  void check_neighbours() const {
    Offset halo_left = head.halo_cols, send_left = head.send_cols;
    Index before = -1;
    for (Index n = 0; n < head.neighbours; ++n) {
      const StoredNeighbour& next = record.neighbours[n];
      if (next.part <= before || next.part == part ||
          next.part >= static_cast<Index>(level.parts.size())) {
        fail(&next.part, "ascending numbers of other parts as neighbours", next.part);
      }
      if (next.halo_cols < 0 ||
          next.halo_cols > std::min<Offset>(halo_left, head_of(next).own_cols())) {
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
  }

  /// Columns of one owner; returns the end.
  const Index* check_run(const Index* at, Index count, const PartHead& owner,
                         const char* what) const {
    for (Index i = 0; i < count; ++i, ++at) {
      if (*at < owner.col_begin || *at >= owner.col_end || (i > 0 && *at <= at[-1])) {
        fail(at,
             std::string(what) + " that ascend within [" + std::to_string(owner.col_begin) + ", " +
                 std::to_string(owner.col_end) + ")",
             *at);
      }
    }
    return at;
  }

  void check_columns() const {
    const Index *halo = record.halo, *sends = record.sends;
    for (Index n = 0; n < head.neighbours; ++n) {
      const StoredNeighbour& next = record.neighbours[n];
      halo = check_run(halo, next.halo_cols, head_of(next), "columns of the halo");
      sends = check_run(sends, next.send_cols, head, "columns to send");
    }
  }

  void check_padding() const {
    const auto* end = reinterpret_cast<const unsigned char*>(record.end);
    for (const unsigned char* at = end; at < bytes + record_bytes(head); ++at) {
      if (*at != 0) fail(at, "padding of 0 after the lists", *at);
    }
  }
};

}  // namespace

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

void check_lists(const PartLevel& level, Index part, const unsigned char* bytes,
                 const Place& place) {
  const CheckedRecord checked{level, part, bytes, place};
  checked.check_neighbours();
  checked.check_columns();
  checked.check_padding();
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

namespace {

/// The records of a level in the file's lists.
class LevelRecords {
 public:
  LevelRecords(const std::vector<PartLevel>& levels, std::size_t level, const unsigned char* lists)
      : level_(levels[level]), lists_(lists), send_begins_(level_.parts.size()) {
    std::uint64_t begin = list_begin(levels, level, 0);
    for (const PartHead& head : level_.parts) {
      begins_.push_back(begin);
      begin += record_bytes(head);
    }
  }

  Index parts() const { return static_cast<Index>(level_.parts.size()); }

  /// Each record by itself. Notes where the columns for every neighbour begin among those sent.
  void check_record(Index part, const Place& place) {
    const auto p = static_cast<std::size_t>(part);
    check_lists(level_, part, lists_ + begins_[p], {place.path, place.offset_bytes + begins_[p]});
    const Record record = record_of(part);
    Offset begin = 0;
    for (Index n = 0; n < level_.parts[p].neighbours; ++n) {
      send_begins_[p].push_back(begin);
      begin += record.neighbours[n].send_cols;
    }
  }

  /// What the neighbours of a part send against what it expects, once all records are checked.
  void check_halo(Index part, const Place& place) const {
    const Record mine = record_of(part);
    const Index* halo = mine.halo;
    for (Index n = 0; n < level_.parts[static_cast<std::size_t>(part)].neighbours; ++n) {
      const StoredNeighbour& from = mine.neighbours[n];
      if (!sends(from.part, part, halo, from.halo_cols)) {
        const auto where = reinterpret_cast<const unsigned char*>(halo) - lists_;
        fail_at(place.path, place.offset_bytes + static_cast<std::uint64_t>(where),
                "expected the columns that part " + std::to_string(from.part) + " of " +
                    std::to_string(parts()) + " sends to part " + std::to_string(part) +
                    ", found others; create the file again");
      }
      halo += from.halo_cols;
    }
  }

 private:
  Record record_of(Index part) const {
    const auto p = static_cast<std::size_t>(part);
    return record_at(level_.parts[p], lists_ + begins_[p]);
  }

  /// Whether one part sends exactly these columns to another.
  bool sends(Index from, Index to, const Index* cols, Index count) const {
    const Record record = record_of(from);
    const std::vector<Offset>& begins = send_begins_[static_cast<std::size_t>(from)];
    const StoredNeighbour* end = record.neighbours + begins.size();
    const StoredNeighbour* found =
        std::lower_bound(record.neighbours, end, to,
                         [](const StoredNeighbour& a, Index wanted) { return a.part < wanted; });
    const Index sent = found == end || found->part != to ? 0 : found->send_cols;
    if (sent != count) return false;
    return sent <= 0 ||
           std::equal(cols, cols + sent,
                      record.sends + begins[static_cast<std::size_t>(found - record.neighbours)]);
  }

  const PartLevel& level_;
  const unsigned char* lists_;
  std::vector<std::uint64_t> begins_;             // of each part's record
  std::vector<std::vector<Offset>> send_begins_;  // of each part, for each neighbour
};

}  // namespace

void check_all_lists(const std::vector<PartLevel>& levels, const unsigned char* lists,
                     const Place& place) {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    LevelRecords records(levels, l, lists);
    TeamErrors errors;
#pragma omp parallel for schedule(dynamic, 1)
    for (Index part = 0; part < records.parts(); ++part) {
      errors.guard([&] { records.check_record(part, place); });
    }
    errors.rethrow();
    // Sums are equal, so one way suffices.
#pragma omp parallel for schedule(dynamic, 1)
    for (Index part = 0; part < records.parts(); ++part) {
      errors.guard([&] { records.check_halo(part, place); });
    }
    errors.rethrow();
  }
}

}  // namespace rank_layout

}  // namespace csrkit
