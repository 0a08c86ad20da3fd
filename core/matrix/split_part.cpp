// A part's rows, split into the columns that it owns and its halo.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/counted.h"
#include "core/base/team.h"
#include "core/base/team_errors.h"
#include "core/matrix/row_parts.h"

namespace csrkit {

namespace {

/// Finds the place of a column in the halo: the number of bits before it.
class HaloPlaces {
 public:
  HaloPlaces(const Buffer<Index>& halo, Index cols)
      : words_(static_cast<std::size_t>(Offset{cols} / 64 + 1)), before_(words_.size()) {
    for (const Index col : halo) words_[static_cast<std::size_t>(col / 64)] |= bit_of(col);
    Index count = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      before_[i] = count;
      count += __builtin_popcountll(words_[i]);
    }
  }
  /// -1 if it is not there.
  Index find(Index col) const {
    const auto word = static_cast<std::size_t>(col / 64);
    if ((words_[word] & bit_of(col)) == 0) return -1;
    return before_[word] + __builtin_popcountll(words_[word] & (bit_of(col) - 1));
  }

 private:
  static std::uint64_t bit_of(Index col) { return std::uint64_t{1} << (col % 64); }
  std::vector<std::uint64_t> words_;
  std::vector<Index> before_;
};

/// The columns of a row that the part owns.
struct OwnRange {
  const Index* begin;
  const Index* end;
};

/// The rows of a part, as split_part reads them.
struct RowsOfAPart {
  const PartRows& rows;
  const PartHead& head;
  Index cols;  // of the whole matrix
  const std::string& where;
  int team;

  [[noreturn]] void refuse(Index row, const std::string& what) const {
    throw InputError(where + ": row " + std::to_string(head.row_begin + row) + ": " + what +
                     "; create the file again");
  }

  std::pair<const Index*, const Index*> columns_of(Index row) const {
    const Offset first = rows.row_offsets[0];
    return {rows.col_indices + (rows.row_offsets[row] - first),
            rows.col_indices + (rows.row_offsets[row + 1] - first)};
  }

  OwnRange own_range(Index row) const {
    const auto [begin, end] = columns_of(row);
    const Index* own = std::lower_bound(begin, end, head.col_begin);
    return {own, std::lower_bound(own, end, head.col_end)};
  }

  void copy_values(ValueArray& to, Offset at, const Index* from, Offset entries) const {
    const auto width = static_cast<std::size_t>(size_of(rows.kind));
    if (width == 0 || entries == 0) return;
    std::memcpy(static_cast<char*>(to.data()) + static_cast<std::size_t>(at) * width,
                static_cast<const char*>(rows.values) +
                    static_cast<std::size_t>(from - rows.col_indices) * width,
                static_cast<std::size_t>(entries) * width);
  }
};

/// Makes the offsets of both matrices. Refuses columns out of order, and other sums than the
/// head's.
void count_entries(const RowsOfAPart& split, Buffer<Offset>& own_offsets,
                   Buffer<Offset>& halo_offsets) {
  const PartHead& head = split.head;
  const Index count = head.rows();
  TeamErrors errors;
#pragma omp parallel for schedule(static) num_threads(split.team)
  for (Index row = 0; row < count; ++row) {
    errors.guard([&] {
      const auto [begin, end] = split.columns_of(row);
      for (const Index* at = begin; at < end; ++at) {
        if (*at < 0 || *at >= split.cols || (at > begin && *at <= at[-1])) {
          split.refuse(row, "expected columns that ascend within [0, " +
                                std::to_string(split.cols) + "), found " + std::to_string(*at));
        }
      }
      const OwnRange own = split.own_range(row);
      own_offsets[Offset{row} + 1] = own.end - own.begin;
      halo_offsets[Offset{row} + 1] = (end - begin) - (own.end - own.begin);
    });
  }
  errors.rethrow();
  own_offsets[0] = halo_offsets[0] = 0;
  for (Offset row = 0; row < count; ++row) {
    own_offsets[row + 1] += own_offsets[row];
    halo_offsets[row + 1] += halo_offsets[row];
  }
  if (own_offsets[count] != head.own_entries ||
      halo_offsets[count] != head.entries - head.own_entries) {
    throw InputError(split.where + ": expected " + counted(head.entries, "entry") + ", " +
                     std::to_string(head.own_entries) + " of them in own columns, found " +
                     std::to_string(own_offsets[count] + halo_offsets[count]) + " and " +
                     std::to_string(own_offsets[count]) + "; create the file again");
  }
}

void require_all_used(const std::vector<unsigned char>& is_used, const PartLists& lists,
                      const std::string& where) {
  const auto unused = std::find(is_used.begin(), is_used.end(), 0);
  if (unused == is_used.end()) return;
  throw InputError(
      where + ": expected an entry in every column of the halo's list, found none in column " +
      std::to_string(lists.halo[unused - is_used.begin()]) + "; create the file again");
}

}  // namespace

RankPart split_part(const PartRows& rows, PartLists lists, Index cols, const std::string& where,
                    int threads, PartColumns columns) {
  const PartHead& head = lists.head;
  const Index count = head.rows();
  const RowsOfAPart split{rows, head, cols, where, team_for(head.entries, threads)};
  const HaloPlaces places(lists.halo, cols);
  Buffer<Offset> own_offsets(Offset{count} + 1), halo_offsets(Offset{count} + 1);
  count_entries(split, own_offsets, halo_offsets);

  const bool is_whole = columns == PartColumns::whole;
  if (is_whole) {  // `own` takes all
    for (Offset row = 0; row <= count; ++row) {
      own_offsets[row] += std::exchange(halo_offsets[row], 0);
    }
  }
  Buffer<Index> own_cols(own_offsets[count]), halo_cols(halo_offsets[count]);
  ValueArray own_values(rows.kind, own_cols.size()), halo_values(rows.kind, halo_cols.size());
  // Pages are touched first by the threads that multiply them later, in the same static shares.
  std::vector<unsigned char> is_used(static_cast<std::size_t>(head.halo_cols), 0);
  TeamErrors errors;
#pragma omp parallel for schedule(static) num_threads(split.team)
  for (Index row = 0; row < count; ++row) {
    errors.guard([&] {
      const auto [begin, end] = split.columns_of(row);
      const OwnRange own = split.own_range(row);
      Offset to = own_offsets[row];
      if (is_whole) {
        std::copy(begin, end, own_cols.data() + to);
        split.copy_values(own_values, to, begin, end - begin);
      } else {
        for (const Index* at = own.begin; at < own.end; ++at) own_cols[to++] = *at - head.col_begin;
        split.copy_values(own_values, own_offsets[row], own.begin, own.end - own.begin);
        to = halo_offsets[row];
        split.copy_values(halo_values, to, begin, own.begin - begin);
        split.copy_values(halo_values, to + (own.begin - begin), own.end, end - own.end);
      }
      for (const Index* at = begin; at < end; ++at) {
        if (at == own.begin && (at = own.end) == end) break;
        const Index place = places.find(*at);
        if (place < 0) {
          split.refuse(row,
                       "expected the columns of the halo's list, found " + std::to_string(*at));
        }
        if (!is_whole) halo_cols[to++] = place;
        __atomic_store_n(&is_used[static_cast<std::size_t>(place)], 1, __ATOMIC_RELAXED);
      }
    });
  }
  errors.rethrow();
  require_all_used(is_used, lists, where);
  RankPart part;
  part.first_col = is_whole ? 0 : head.col_begin;
  part.own = CsrMatrix(count, is_whole ? cols : head.own_cols(), std::move(own_offsets),
                       std::move(own_cols), std::move(own_values));
  part.halo = CsrMatrix(count, head.halo_cols, std::move(halo_offsets), std::move(halo_cols),
                        std::move(halo_values));
  part.lists = std::move(lists);
  return part;
}

}  // namespace csrkit
