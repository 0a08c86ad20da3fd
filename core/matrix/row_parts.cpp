#include "core/matrix/row_parts.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/base/share_of.h"
#include "core/base/team.h"

namespace csrkit {

namespace {

constexpr Offset kEntriesAtOnce = 4096;      // small enough to stay in L1 while every level looks
constexpr Offset kEntriesOfAStep = 1 << 16;  // what a thread takes at a time

auto fields(const PartHead& head) {
  return std::tie(head.row_begin, head.row_end, head.col_begin, head.col_end, head.entries,
                  head.own_entries, head.halo_cols, head.send_cols, head.neighbours,
                  head.piece_entries, head.sums_sent, head.sums_received);
}

/// Counts one level during the pass over the entries.
class LevelCounter {
 public:
  LevelCounter(const PartBorders& borders, Index cols, int threads)
      : borders_(borders),
        words_(static_cast<std::size_t>(Offset{cols} / 64 + 1), 0),
        // A look at few words is over before a team has started.
        threads_(team_for(static_cast<std::int64_t>(words_.size()) / 64, threads)),
        received_(static_cast<std::size_t>(borders.parts())) {
    counted_.level.parts.resize(received_.size());
    for (std::size_t p = 0; p < received_.size(); ++p) {
      PartHead& head = counted_.level.parts[p];
      head.row_begin = borders.rows[p];
      head.row_end = borders.rows[p + 1];
      head.col_begin = borders.cols[p];
      head.col_end = borders.cols[p + 1];
    }
  }

  /// Counts entries of the open part. Several threads may call it at once. Entries of a split row
  /// in columns of other parts belong to those parts.
  void see(const Index* cols, Offset count, bool is_split) {
    PartHead& head = counted_.level.parts[open_];
    const auto begin = static_cast<std::uint32_t>(head.col_begin);
    const auto width = static_cast<std::uint32_t>(head.own_cols());
    Offset own = 0;
    for (Offset i = 0; i < count; ++i) own += static_cast<std::uint32_t>(cols[i]) - begin < width;
    __atomic_fetch_add(&head.own_entries, own, __ATOMIC_RELAXED);
    if (is_split) __atomic_fetch_add(&elsewhere_, count - own, __ATOMIC_RELAXED);
    if (is_split || own == count) return;
    for (Offset i = 0; i < count; ++i) {
      const auto col = static_cast<std::uint32_t>(cols[i]);
      if (col - begin < width) continue;
      std::uint64_t& word = words_[col / 64];
      const std::uint64_t bit = std::uint64_t{1} << (col % 64);
      if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & bit) == 0) {
        __atomic_fetch_or(&word, bit, __ATOMIC_RELAXED);
      }
    }
  }

  /// All rows before `row` have been seen: closes the parts that end there.
  void close_until(Index row, const CsrMatrix& matrix, std::size_t level,
                   const PartVisitor& visitor) {
    for (; open_ < received_.size() && borders_.rows[open_ + 1] <= row; ++open_) {
      PartHead& head = counted_.level.parts[open_];
      head.entries =
          matrix.row_offsets()[head.row_end] - matrix.row_offsets()[head.row_begin] - elsewhere_;
      elsewhere_ = 0;
      if (head.entries == head.own_entries) {
        if (visitor) visitor(level, static_cast<Index>(open_), {}, {words_.data()});
        continue;
      }
      count_halo();
      if (visitor) {
        visitor(level, static_cast<Index>(open_), received_[open_], {words_.data()});
      }
#pragma omp parallel for schedule(static) num_threads(threads_)
      for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = 0;
    }
  }

  CountedLevel finish() {
    std::vector<std::vector<Neighbour>> sends(received_.size());  // each ascending, as p ascends
    for (std::size_t p = 0; p < received_.size(); ++p) {
      for (const Neighbour& from : received_[p]) {
        sends[static_cast<std::size_t>(from.part)].push_back(
            {static_cast<Index>(p), 0, from.halo_cols});
      }
    }
    counted_.neighbours.resize(received_.size());
    for (std::size_t p = 0; p < received_.size(); ++p) {
      PartHead& head = counted_.level.parts[p];
      std::vector<Neighbour>& list = counted_.neighbours[p];
      list.reserve(received_[p].size() + sends[p].size());
      std::merge(received_[p].begin(), received_[p].end(), sends[p].begin(), sends[p].end(),
                 std::back_inserter(list),
                 [](const Neighbour& a, const Neighbour& b) { return a.part < b.part; });
      std::size_t kept = 0;  // what comes from a part and what goes to it are neighbours here
      for (const Neighbour& next : list) {
        if (kept > 0 && list[kept - 1].part == next.part) {
          list[kept - 1].send_cols = next.send_cols;
        } else {
          list[kept++] = next;
        }
      }
      list.resize(kept);
      list.shrink_to_fit();
      head.neighbours = static_cast<Index>(list.size());
      for (const Neighbour& neighbour : list) head.send_cols += neighbour.send_cols;
      received_[p].clear();
    }
    return std::move(counted_);
  }

 private:
  void count_halo() {
    const Index parts = borders_.parts();
    if (static_cast<std::size_t>(parts) > words_.size()) {
      count_halo_by_bits();
      return;
    }
    std::vector<Index> counts(static_cast<std::size_t>(parts), 0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_)
    for (Index owner = 0; owner < parts; ++owner) {
      counts[static_cast<std::size_t>(owner)] =
          count_bits(borders_.cols[static_cast<std::size_t>(owner)],
                     borders_.cols[static_cast<std::size_t>(owner) + 1]);
    }
    PartHead& head = counted_.level.parts[open_];
    for (Index owner = 0; owner < parts; ++owner) {
      const Index count = counts[static_cast<std::size_t>(owner)];
      if (count == 0) continue;
      received_[open_].push_back({owner, count, 0});
      head.halo_cols += count;
    }
  }

  /// The same where owners have few columns each: a look at every owner for every part would take
  /// minutes for tens of thousands of parts.
  void count_halo_by_bits() {
    PartHead& head = counted_.level.parts[open_];
    std::vector<Neighbour>& received = received_[open_];
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        const auto col = static_cast<Index>(Offset(i) * 64 + __builtin_ctzll(word));
        if (received.empty() || col >= borders_.cols[received.back().part + std::size_t{1}]) {
          const auto above = std::upper_bound(borders_.cols.begin(), borders_.cols.end(), col);
          received.push_back({static_cast<Index>(above - borders_.cols.begin() - 1), 0, 0});
        }
        ++received.back().halo_cols;
        ++head.halo_cols;
      }
    }
  }

  Index count_bits(Index begin, Index end) const {
    Index count = 0;
    for (Offset base = Offset{begin} / 64 * 64; base < end; base += 64) {
      std::uint64_t word = words_[static_cast<std::size_t>(base / 64)];
      if (base < begin) word &= ~std::uint64_t{0} << (begin - base);
      if (end - base < 64) word &= (std::uint64_t{1} << (end - base)) - 1;
      count += __builtin_popcountll(word);
    }
    return count;
  }

  const PartBorders& borders_;
  std::vector<std::uint64_t> words_;  // bit c: the open part needs column c of another
  int threads_;
  Offset elsewhere_ = 0;  // entries of the open part's split rows that others multiply
  std::size_t open_ = 0;
  std::vector<std::vector<Neighbour>> received_;
  CountedLevel counted_;
};

void require_borders(const std::vector<Index>& borders, Index count, const char* what) {
  const bool is_good = borders.size() >= 2 && borders.front() == 0 && borders.back() == count &&
                       std::is_sorted(borders.begin(), borders.end());
  if (!is_good) {
    throw UsageError(std::string("borders of parts must ascend from 0 to the number of ") + what +
                     ", " + std::to_string(count));
  }
}

}  // namespace

bool PartHead::operator==(const PartHead& other) const { return fields(*this) == fields(other); }

bool Neighbour::operator==(const Neighbour& other) const {
  return part == other.part && halo_cols == other.halo_cols && send_cols == other.send_cols;
}

std::vector<Index> balanced_borders(const Offset* sums, Index count, Index parts) {
  assert(parts > 0);
  std::vector<Index> borders(static_cast<std::size_t>(parts) + 1, count);
  const Offset total = sums[count];
  for (Index p = 0; p < parts; ++p) {
    if (total == 0) {
      borders[static_cast<std::size_t>(p)] = static_cast<Index>(share_of(count, p, parts));
      continue;
    }
    const Offset target = share_of(total, p, parts);
    const Offset* at = std::lower_bound(sums, sums + count, target);
    if (at != sums && target - at[-1] < at[0] - target) --at;
    borders[static_cast<std::size_t>(p)] = static_cast<Index>(at - sums);
  }
  borders.front() = 0;
  return borders;
}

std::vector<PartBorders> plain_blocks(const CsrMatrix& matrix, const std::vector<Index>& parts,
                                      const std::vector<Index>& split_rows) {
  std::vector<Offset> readers;  // of the columns before
  if (matrix.rows() != matrix.cols()) {
    readers.assign(static_cast<std::size_t>(matrix.cols()) + 1, 0);
    for (Offset e = 0; e < matrix.nnz(); ++e) {
      ++readers[static_cast<std::size_t>(matrix.col_indices()[e]) + 1];
    }
    for (std::size_t j = 1; j < readers.size(); ++j) readers[j] += readers[j - 1];
  }
  /// Row offsets after entries of split rows went to their columns' rows.
  std::vector<Offset> moved;
  if (!split_rows.empty()) {
    moved.assign(static_cast<std::size_t>(matrix.rows()) + 1, 0);
    for (Index i = 0; i < matrix.rows(); ++i) {
      moved[static_cast<std::size_t>(i) + 1] = matrix.row_length(i);
    }
    for (const Index row : split_rows) {
      moved[static_cast<std::size_t>(row) + 1] -= matrix.row_length(row);
      const Offset end = matrix.row_offsets()[row + 1];
      for (Offset e = matrix.row_offsets()[row]; e < end && readers.empty(); ++e) {
        ++moved[static_cast<std::size_t>(matrix.col_indices()[e]) + 1];
      }
    }
    for (std::size_t i = 1; i < moved.size(); ++i) moved[i] += moved[i - 1];
  }
  const Offset* const sums = moved.empty() ? matrix.row_offsets() : moved.data();
  std::vector<PartBorders> levels;
  for (const Index count : parts) {
    PartBorders borders;
    borders.rows = balanced_borders(sums, matrix.rows(), count);
    borders.cols =
        readers.empty() ? borders.rows : balanced_borders(readers.data(), matrix.cols(), count);
    levels.push_back(std::move(borders));
  }
  return levels;
}

std::vector<CountedLevel> count_parts(const CsrMatrix& matrix,
                                      const std::vector<PartBorders>& levels, int threads,
                                      const ProgressCallback& progress, const PartVisitor& visitor,
                                      const std::vector<Index>& split_rows) {
  std::vector<Index> segments;  // between them no level begins a part, and no row is split
  for (const Index row : split_rows) segments.insert(segments.end(), {row, row + 1});
  std::vector<LevelCounter> counters;
  const int team = team_for(matrix.nnz(), threads);
  for (const PartBorders& borders : levels) {
    require_borders(borders.rows, matrix.rows(), "rows");
    require_borders(borders.cols, matrix.cols(), "columns");
    if (borders.rows.size() != borders.cols.size()) {
      throw UsageError("parts of rows and of columns must be equally many");
    }
    segments.insert(segments.end(), borders.rows.begin(), borders.rows.end());
    counters.emplace_back(borders, matrix.cols(), team);
  }
  std::sort(segments.begin(), segments.end());
  segments.erase(std::unique(segments.begin(), segments.end()), segments.end());

  Offset seen = 0;
  for (const Index row_end : segments) {
    const Offset end = matrix.row_offsets()[row_end];
    const bool is_split = std::binary_search(split_rows.begin(), split_rows.end(), row_end - 1);
    const Offset steps = (end - seen + kEntriesOfAStep - 1) / kEntriesOfAStep;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team) if (steps > 1)
    for (Offset step = 0; step < steps; ++step) {
      const Offset stop = std::min(end, seen + (step + 1) * kEntriesOfAStep);
      for (Offset at = seen + step * kEntriesOfAStep; at < stop; at += kEntriesAtOnce) {
        const Offset count = std::min(kEntriesAtOnce, stop - at);
        for (LevelCounter& counter : counters) {
          counter.see(matrix.col_indices() + at, count, is_split);
        }
      }
    }
    seen = end;
    for (std::size_t level = 0; level < counters.size(); ++level) {
      counters[level].close_until(row_end, matrix, level, visitor);
    }
    if (progress) {
      progress("counting", static_cast<std::uint64_t>(seen),
               static_cast<std::uint64_t>(matrix.nnz()));
    }
  }
  std::vector<CountedLevel> counted;
  counted.reserve(counters.size());
  for (LevelCounter& counter : counters) counted.push_back(counter.finish());
  return counted;
}

}  // namespace csrkit
