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

}  // namespace

LocalityProfile locality_profile(const CsrMatrix& matrix) {
  LocalityProfile profile;
  const Index rows = matrix.rows(), cols = matrix.cols();
  const Offset nnz = matrix.nnz();
  if (nnz == 0) return profile;
  const Index windows = (rows - 1) / kWindow + 1;
  const FilledColumns filled =
      is_hypersparse(matrix) ? filled_columns(matrix) : FilledColumns{matrix, {}};
  const Index* const places = filled.pattern.col_indices();
  const Buffer<Index> filled_tiles = tiles_of(filled.cols, kTile);
  const auto tile_of = [&](Index col, Index place) {
    return filled_tiles.size() > 0 ? filled_tiles[place] : col / kTile;
  };
  Index bandwidth = 0;
  Offset distance_sum = 0;  // below 2^31 * nnz; a matrix of 2^32 nonzeros still fits
  Offset envelope = 0, tiles = 0, vectors_of_8 = 0, vectors_of_16 = 0, window_cols = 0;
  // Allocated before the region: an exception inside of it would end the process.
  const int threads = std::min<Index>(
      worthwhile_threads(filled.pattern.cols(), nnz, omp_get_max_threads()), windows);
  std::vector<Buffer<Index>> met_in_of, tile_met_in_of;
  for (int thread = 0; thread < threads; ++thread) {
    met_in_of.emplace_back(filled.pattern.cols());
    tile_met_in_of.emplace_back(filled_tiles.size() > 0 ? filled_tiles.size()
                                                        : (cols - 1) / kTile + 1);
  }
#pragma omp parallel num_threads(threads) reduction(max : bandwidth) \
    reduction(+ : distance_sum, envelope, tiles, vectors_of_8, vectors_of_16, window_cols)
  {
    // The row in which a column, or a tile, was met last. Whether that was in the same vector, tile
    // or window is a comparison, so nothing has to be cleared. -1 stands for no row: an arithmetic
    // shift keeps it apart from row 0.
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    Buffer<Index>&met_in = met_in_of[thread], &tile_met_in = tile_met_in_of[thread];
    std::fill(met_in.begin(), met_in.end(), Index{-1});
    std::fill(tile_met_in.begin(), tile_met_in.end(), Index{-1});
#pragma omp for schedule(dynamic, 64)
    for (Index window = 0; window < windows; ++window) {
      const Index first = window * kWindow, last = first + std::min(kWindow, rows - first);
      for (Index row = first; row < last; ++row) {
        const Offset begin = matrix.row_offsets()[row], end = matrix.row_offsets()[row + 1];
        if (begin < end) envelope += std::max(0, row - matrix.col_indices()[begin]);
        for (Offset at = begin; at < end; ++at) {
          const Index col = matrix.col_indices()[at];
          const Index distance = col > row ? col - row : row - col;
          bandwidth = std::max(bandwidth, distance);
          distance_sum += distance;
          Index& met = met_in[places[at]];
          vectors_of_8 += met >> 3 != row >> 3;
          vectors_of_16 += met >> 4 != row >> 4;
          window_cols += met >> 6 != row >> 6;
          met = row;
          Index& tile_met = tile_met_in[tile_of(col, places[at])];
          tiles += tile_met >> 5 != row >> 5;
          tile_met = row;
        }
      }
    }
  }
  const auto entries_per = [&](Offset count) {
    return static_cast<double>(nnz) / static_cast<double>(count);
  };
  profile.bandwidth = bandwidth;
  profile.envelope = envelope;
  profile.mean_distance = static_cast<double>(distance_sum) / static_cast<double>(nnz) /
                          static_cast<double>(std::max(rows, cols));
  profile.entries_per_touched_tile = entries_per(tiles);
  profile.entries_per_vector_of_8 = entries_per(vectors_of_8);
  profile.entries_per_vector_of_16 = entries_per(vectors_of_16);
  profile.distinct_cols_per_window = static_cast<double>(window_cols) / windows;
  profile.entries_per_window_column = entries_per(window_cols);
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
