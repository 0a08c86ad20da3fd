#include "preprocess/generate/drawn_rows/column_drawer.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "preprocess/generate/drawn_rows/drawn_row.h"

namespace csrkit {

namespace {

// Streams of random words: what each is for.
enum Stream : std::uint64_t { kCommunities = 1, kPopularity, kRowOrder, kColOrder, kRows };

// A community takes no more than this share of itself from one row; the rest spreads outside, as in
// real graphs, where a hub reaches beyond its community.
constexpr double kMostOfCommunity = 0.75;

/// Ids by position: shuffled as a whole or within each of the `parts` equal intervals.
Buffer<Index> shuffled_ids(Index size, Index parts, std::uint64_t seed) {
  if (parts <= 1) return random_order(size, seed);
  Buffer<Index> ids(size);
  for (Offset part = 0; part < parts; ++part) {
    const auto begin = static_cast<Index>(Offset{size} * part / parts);
    const auto end = static_cast<Index>(Offset{size} * (part + 1) / parts);
    const Buffer<Index> order =
        random_order(end - begin, random_word(seed, static_cast<std::uint64_t>(part)));
    for (Index i = begin; i < end; ++i) ids[i] = begin + order[i - begin];
  }
  return ids;
}

/// Throws UsageError for a model that needs as many columns as rows.
void require_rectangular(const ColumnModel& model) {
  if (model.popularity == ColumnModel::Popularity::row_length) {
    throw UsageError(
        "popularity=row-length needs as many columns as rows; take uniform or power-law");
  }
  if (model.diagonal != ColumnModel::Diagonal::allowed) {
    throw UsageError("a matrix that is not square needs diagonal=allowed");
  }
  if (model.cliques > 0) {
    throw UsageError("cliques need as many columns as rows; take communities");
  }
}

}  // namespace

ColumnDrawer::ColumnDrawer(const ColumnModel& model, Index rows, Index cols,
                           const Buffer<Index>& lengths, std::uint64_t seed)
    : model_(model), rows_(rows), cols_(cols), seed_(seed) {
  model_.coarse = std::min(model_.coarse, cols);
  if (rows != cols) require_rectangular(model_);
  if (model_.inside > 0) place_communities();
  if (model_.popularity != ColumnModel::Popularity::uniform) weigh_columns(lengths);
  if (model_.order != ColumnModel::Order::planted) {
    const Index parts = model_.order == ColumnModel::Order::coarse ? model_.coarse : 1;
    col_id_ = shuffled_ids(cols, parts, random_word(seed, kColOrder));
    if (rows != cols) row_id_ = shuffled_ids(rows, parts, random_word(seed, kRowOrder));
  }
}

void ColumnDrawer::place_communities() {
  community_begin_ = model_.groups;
  if (community_begin_.empty()) {
    // Sizes spread from half the mean upwards, exponentially.
    RandomStream random(seed_, kCommunities);
    for (Offset begin = 0; begin < cols_;) {
      const double size = model_.community * (0.5 - 0.5 * std::log1p(-random.unit()));
      community_begin_.push_back(static_cast<Index>(begin));
      begin += std::max<Offset>(2, std::llround(size));
    }
  }
  community_begin_.push_back(cols_);
  community_at_ = Buffer<Index>(cols_);
  for (std::size_t at = 0; at + 1 < community_begin_.size(); ++at) {
    std::fill(community_at_.begin() + community_begin_[at],
              community_at_.begin() + community_begin_[at + 1], static_cast<Index>(at));
  }
}

void ColumnDrawer::weigh_columns(const Buffer<Index>& lengths) {
  cumulative_ = Buffer<double>(Offset{cols_} + 1);
  cumulative_[0] = 0;
  const std::uint64_t salt = random_word(seed_, kPopularity);
  for (Index p = 0; p < cols_; ++p) {
    double weight;
    if (model_.popularity == ColumnModel::Popularity::row_length) {
      weight = lengths[p] + 0.5;
    } else {
      const double u = unit_of(random_word(salt, static_cast<std::uint64_t>(p)));
      weight = std::min(1e5, std::pow(1 - u, 1 / (1 - model_.popularity_exponent)));
    }
    cumulative_[p + 1] = cumulative_[p] + weight;
  }
  // guide_[b]: the position that holds the weight b / scale; one entry per column on average.
  guide_.resize(static_cast<std::size_t>(cols_) + 2, std::max(0, cols_ - 1));
  guide_scale_ = cols_ > 0 ? cols_ / cumulative_[cols_] : 0;
  Index p = 0;
  for (Index b = 0; b <= cols_; ++b) {
    while (p < cols_ - 1 && cumulative_[p + 1] * guide_scale_ <= b) ++p;
    guide_[static_cast<std::size_t>(b)] = p;
  }
}

ColumnDrawer::Interval ColumnDrawer::community_of(Index position) const {
  const auto at = static_cast<std::size_t>(community_at_[position]);
  return {community_begin_[at], community_begin_[at + 1]};
}

ColumnDrawer::Interval ColumnDrawer::coarse_of(Index position) const {
  const Offset part = ((Offset{position} + 1) * model_.coarse - 1) / cols_;
  return {static_cast<Index>(Offset{cols_} * part / model_.coarse),
          static_cast<Index>(Offset{cols_} * (part + 1) / model_.coarse)};
}

Index ColumnDrawer::row_at(Index position) const {
  const Buffer<Index>& ids = rows_ == cols_ ? col_id_ : row_id_;
  return ids.size() > 0 ? ids[position] : position;
}

Index ColumnDrawer::pick(double target, Interval range) const {
  const auto bucket =
      static_cast<std::size_t>(std::min<double>(cols_, std::max(0.0, target * guide_scale_)));
  Index low = std::max(guide_[bucket], range.begin);
  Index high = std::min(guide_[bucket + 1], range.end - 1);
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (cumulative_[middle + 1] <= target) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::min(std::max(low, range.begin), range.end - 1);
}

/// Draws by popularity until `count` columns are found or too many were there already; returns how
/// many are missing.
Index ColumnDrawer::draw_popular(Index count, Interval range, DrawnRow* drawn) const {
  const bool is_uniform = model_.popularity == ColumnModel::Popularity::uniform;
  const double begin = is_uniform ? 0 : cumulative_[range.begin];
  const double width = is_uniform ? 0 : cumulative_[range.end] - begin;
  for (Offset misses_left = 3 * Offset{count} + 32; count > 0 && misses_left > 0;) {
    const Index position = is_uniform ? range.begin + static_cast<Index>(drawn->random.below(
                                                          static_cast<std::uint64_t>(range.size())))
                                      : pick(begin + drawn->random.unit() * width, range);
    if (drawn->add(col_id_.size() > 0 ? col_id_[position] : position)) {
      --count;
    } else {
      --misses_left;
    }
  }
  return count;
}

/// Draws around the diagonal; the square of a uniform number favours what is closest.
Index ColumnDrawer::draw_near(Index count, Index row, DrawnRow* drawn) const {
  const auto centre = static_cast<Index>(Offset{row} * cols_ / rows_);
  for (Offset misses_left = 3 * Offset{count} + 32; count > 0 && misses_left > 0;) {
    const std::uint64_t word = drawn->random.next();
    const double u = unit_of(word);
    const Offset distance = 1 + static_cast<Offset>(model_.reach * u * u);
    const Offset col = word & 1 ? centre + distance : centre - distance;
    if (col >= 0 && col < cols_ && drawn->add(static_cast<Index>(col))) {
      --count;
    } else {
      --misses_left;
    }
  }
  return count;
}

/// Exactly `count` of the columns that are still free: by rejection while less than half are taken,
/// else by one pass of selection sampling (Knuth, volume 2, algorithm S).
void ColumnDrawer::draw_uniform(Index count, DrawnRow* drawn) const {
  if (Offset{drawn->count} + count <= cols_ / 2) {
    while (count > 0) {
      count -=
          drawn->add(static_cast<Index>(drawn->random.below(static_cast<std::uint64_t>(cols_))));
    }
    return;
  }
  Index free = 0;
  for (Index col = 0; col < cols_; ++col) free += !drawn->holds(col);
  for (Index col = 0; col < cols_ && count > 0; ++col) {
    if (drawn->holds(col)) continue;
    if (drawn->random.below(static_cast<std::uint64_t>(free)) < static_cast<std::uint64_t>(count)) {
      drawn->add(col);
      --count;
    }
    --free;
  }
}

void ColumnDrawer::draw_row(Index position, Index length, DrawnRow* drawn, Index* out) const {
  drawn->random = RandomStream(random_word(seed_, kRows), static_cast<std::uint64_t>(position));
  drawn->out = out;
  drawn->count = 0;
  if (length == 0) return;
  const Index row = row_at(position);
  // Where the row sits among the columns.
  const auto home = static_cast<Index>(Offset{position} * cols_ / rows_);

  const bool hide_diagonal = model_.diagonal == ColumnModel::Diagonal::never;
  if (hide_diagonal) drawn->flip(row);
  if (model_.diagonal == ColumnModel::Diagonal::always) drawn->add(row);

  Index left = length - drawn->count;
  const auto share_of = [&](double share) {
    return std::min(left, static_cast<Index>(length * share + drawn->random.unit()));
  };
  Index missing = 0;  // what one level could not place goes to the next wider one
  if (model_.near > 0) {
    const Index count = share_of(model_.near);
    missing = draw_near(count, row, drawn);
    left -= count - missing;
  }
  if (model_.inside > 0 && left > 0) {
    const Interval range = community_of(home);
    const Index wanted = std::min(left, share_of(model_.inside) + missing);
    const Index count = std::min(wanted, static_cast<Index>(kMostOfCommunity * range.size()));
    left -= count - draw_popular(count, range, drawn);
    missing = wanted - count;
  }
  if (model_.inside_coarse > 0 && left > 0) {
    const Interval range = coarse_of(home);
    const Index wanted = std::min(left, share_of(model_.inside_coarse) + missing);
    const Index count = std::min(wanted, static_cast<Index>(kMostOfCommunity * range.size()));
    left -= count - draw_popular(count, range, drawn);
  }
  left = draw_popular(left, {0, cols_}, drawn);
  draw_uniform(left, drawn);

  if (hide_diagonal) drawn->flip(row);
  drawn->finish();
}

double ColumnDrawer::expected_meetings(const Buffer<Index>& lengths) const {
  double meetings = 0;
  for (Index p = 0; p < rows_; ++p) {
    const double length = lengths[p];
    double rest = 1 - model_.inside - model_.inside_coarse - model_.near;
    const auto add = [&](double share, double size) {
      if (share > 0) meetings += std::min(1.0, share * length / size) * share * length / 2;
    };
    if (model_.inside > 0) add(model_.inside, community_of(p).size());
    if (model_.inside_coarse > 0) add(model_.inside_coarse, coarse_of(p).size());
    add(model_.near, 2.0 * model_.reach);
    add(rest, cols_);
  }
  return meetings;
}

CsrPattern ColumnDrawer::draw(const Buffer<Index>& lengths,
                              const ProgressCallback& progress) const {
  // Positions to ids for the lengths, ids back to positions for the rows.
  Buffer<Index> position_of_row(rows_);
  CsrPattern pattern{Buffer<Offset>(Offset{rows_} + 1), {}};
  for (Index p = 0; p < rows_; ++p) position_of_row[row_at(p)] = p;
  pattern.row_offsets[0] = 0;
  for (Index row = 0; row < rows_; ++row) {
    pattern.row_offsets[row + 1] = pattern.row_offsets[row] + lengths[position_of_row[row]];
  }
  require_room(0, pattern.row_offsets[rows_], sizeof(Index));
  pattern.col_indices = Buffer<Index>(pattern.row_offsets[rows_]);

  std::vector<DrawnRow> drawn(static_cast<std::size_t>(std::max(1, omp_get_max_threads())),
                              DrawnRow(cols_));
  Offset rows_done = 0;
#pragma omp parallel
  {
    DrawnRow* mine = &drawn[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic, 64)
    for (Index row = 0; row < rows_; ++row) {
      const Index position = position_of_row[row];
      draw_row(position, lengths[position], mine,
               pattern.col_indices.data() + pattern.row_offsets[row]);
      if (progress && row % 1024 == 0) {
        Offset done = 0;
#pragma omp atomic capture
        done = rows_done += 1024;
        if (omp_get_thread_num() == 0) {
          progress("drawing rows", static_cast<std::uint64_t>(std::min<Offset>(done, rows_)),
                   static_cast<std::uint64_t>(rows_));
        }
      }
    }
  }
  return pattern;
}

}  // namespace csrkit
