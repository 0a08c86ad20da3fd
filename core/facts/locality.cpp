#include "core/facts/locality.h"

#include <omp.h>

#include <algorithm>
#include <vector>

#include "core/matrix/filled_columns.h"

namespace csrkit {

namespace {

// Windows hold whole tiles and vectors, so that every count is local to a window.
constexpr Index kWindow = 64, kTile = 32;

/// Each thread clears a number for every column before it begins. With more threads than entries in
/// a column that takes longer than it saves, and memory without end on a machine of many cores.
int worthwhile_threads(Offset cols, Offset nnz, int threads) {
  return static_cast<int>(std::clamp<Offset>(nnz / std::max<Offset>(cols, 1), 1, threads));
}

/// The tile of each column in `cols`; tiles without such a column are not numbered.
Buffer<Index> tiles_of(const Buffer<Index>& cols, Index tile_cols) {
  Buffer<Index> tiles(cols.size());
  for (Offset i = 0; i < cols.size(); ++i) {
    const bool is_next = i > 0 && cols[i] / tile_cols != cols[i - 1] / tile_cols;
    tiles[i] = i == 0 ? 0 : tiles[i - 1] + (is_next ? 1 : 0);
  }
  return tiles;
}

/// What is counted of the entries. Sums over all entries stay below 2^31 * nnz: those of a matrix
/// of 2^32 nonzeros still fit.
struct LocalityCounts {
  Index bandwidth = 0;
  Offset distance_sum = 0, envelope = 0;
  Offset tiles = 0, vectors_of_8 = 0, vectors_of_16 = 0, window_cols = 0;

  void add(const LocalityCounts& more) {
    bandwidth = std::max(bandwidth, more.bandwidth);
    distance_sum += more.distance_sum;
    envelope += more.envelope;
    tiles += more.tiles;
    vectors_of_8 += more.vectors_of_8;
    vectors_of_16 += more.vectors_of_16;
    window_cols += more.window_cols;
  }
};

/// The rows in which a column, and a tile, were met last. Whether that was in the same vector, tile
/// or window is a comparison, so nothing has to be cleared. -1 stands for no row: an arithmetic
/// shift keeps it apart from row 0.
struct LastMet {
  Buffer<Index> in_column, in_tile;

  void clear() {
    std::fill(in_column.begin(), in_column.end(), Index{-1});
    std::fill(in_tile.begin(), in_tile.end(), Index{-1});
  }
};

/// Columns with entries have places, and tiles with such columns numbers, so that what a thread
/// keeps stays small where most columns are empty.
class Places {
 public:
  explicit Places(const CsrMatrix& matrix)
      : filled_(is_hypersparse(matrix) ? filled_columns(matrix) : FilledColumns{matrix, {}}),
        tiles_(tiles_of(filled_.cols, kTile)),
        all_tiles_((matrix.cols() - 1) / kTile + 1) {}

  Index count() const { return filled_.pattern.cols(); }
  LastMet nothing_met() const {
    return {Buffer<Index>(count()), Buffer<Index>(tiles_.size() > 0 ? tiles_.size() : all_tiles_)};
  }
  Index of(Offset entry) const { return filled_.pattern.col_indices()[entry]; }
  Index tile_of(Index col, Index place) const {
    return tiles_.size() > 0 ? tiles_[place] : col / kTile;
  }

 private:
  FilledColumns filled_;
  Buffer<Index> tiles_;  // of the places; none if every column has one
  Offset all_tiles_;
};

void count_row(const CsrMatrix& matrix, const Places& places, Index row, LastMet& met,
               LocalityCounts& counts) {
  const Offset begin = matrix.row_offsets()[row], end = matrix.row_offsets()[row + 1];
  if (begin < end) counts.envelope += std::max(0, row - matrix.col_indices()[begin]);
  for (Offset at = begin; at < end; ++at) {
    const Index col = matrix.col_indices()[at];
    const Index distance = col > row ? col - row : row - col;
    counts.bandwidth = std::max(counts.bandwidth, distance);
    counts.distance_sum += distance;
    const Index place = places.of(at);
    Index& last = met.in_column[place];
    counts.vectors_of_8 += last >> 3 != row >> 3;
    counts.vectors_of_16 += last >> 4 != row >> 4;
    counts.window_cols += last >> 6 != row >> 6;
    last = row;
    Index& last_in_tile = met.in_tile[places.tile_of(col, place)];
    counts.tiles += last_in_tile >> 5 != row >> 5;
    last_in_tile = row;
  }
}

/// By windows, which hold whole tiles and vectors: their counts add up.
LocalityCounts count_windows(const CsrMatrix& matrix) {
  const Index rows = matrix.rows(), windows = (rows - 1) / kWindow + 1;
  const Places places(matrix);
  const int threads = std::min<Index>(
      worthwhile_threads(places.count(), matrix.nnz(), omp_get_max_threads()), windows);
  // Allocated before the region: an exception inside of it would end the process.
  std::vector<LastMet> met_of;
  met_of.reserve(static_cast<std::size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) met_of.push_back(places.nothing_met());
  LocalityCounts all;
#pragma omp parallel num_threads(threads)
  {
    LastMet& met = met_of[static_cast<std::size_t>(omp_get_thread_num())];
    met.clear();
    LocalityCounts mine;
#pragma omp for schedule(dynamic, 64)
    for (Index window = 0; window < windows; ++window) {
      const Index first = window * kWindow, last = first + std::min(kWindow, rows - first);
      for (Index row = first; row < last; ++row) count_row(matrix, places, row, met, mine);
    }
#pragma omp critical(csrkit_locality)
    all.add(mine);
  }
  return all;
}

}  // namespace

LocalityProfile locality_profile(const CsrMatrix& matrix) {
  LocalityProfile profile;
  const Index rows = matrix.rows(), cols = matrix.cols();
  const Offset nnz = matrix.nnz();
  if (nnz == 0) return profile;
  const LocalityCounts counts = count_windows(matrix);
  const auto entries_per = [&](Offset count) {
    return static_cast<double>(nnz) / static_cast<double>(count);
  };
  profile.bandwidth = counts.bandwidth;
  profile.envelope = counts.envelope;
  profile.mean_distance = static_cast<double>(counts.distance_sum) / static_cast<double>(nnz) /
                          static_cast<double>(std::max(rows, cols));
  profile.entries_per_touched_tile = entries_per(counts.tiles);
  profile.entries_per_vector_of_8 = entries_per(counts.vectors_of_8);
  profile.entries_per_vector_of_16 = entries_per(counts.vectors_of_16);
  const Index windows = (rows - 1) / kWindow + 1;
  profile.distinct_cols_per_window = static_cast<double>(counts.window_cols) / windows;
  profile.entries_per_window_column = entries_per(counts.window_cols);
  return profile;
}

std::uint64_t locality_bytes(Index cols, Offset nnz, int threads) {
  const bool is_hypersparse = cols > nnz;
  const Offset places = std::min<Offset>(cols, nnz);
  const Offset tiles = is_hypersparse ? places : places / kTile + 1;
  const Offset numbers = worthwhile_threads(places, nnz, threads) * (places + tiles) +
                         (is_hypersparse ? 3 * nnz : 0);  // columns, places and tiles
  return static_cast<std::uint64_t>(numbers) * sizeof(Index);
}

}  // namespace csrkit
