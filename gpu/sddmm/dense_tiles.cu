// dense_tiles: X Y^T as a dense product, stored where A has entries.
// Owns     a block: a tile of 64 x 64 places of A, or 32 x 32 in small matrices; a lane: 4 x 4 of
//          them, each added up from the first column of X and Y to the last
// Reads    rows of X and Y once a tile, 16 columns at a time through shared memory, loaded two
//          steps ahead; 16 bytes a lane (8 in 16 bits) where K, the leading dimensions and the
//          addresses allow it, else an element
// Launch   a block a tile; a block whose tile has no entries ends early. Three blocks of large
//          tiles per multiprocessor where loads are wide, so at most 80 registers
// Needs    16 bytes for every 64 (32) places of a row: which of them are entries, and the first
// Against  row_groups and row_panels, which compute only A's entries (row_panels: its tiles), from
//          L1; cusparseSDDMM

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/sddmm/dense_tiles.h"
#include "gpu/sddmm/rows.cuh"
#include "gpu/sddmm/typed.cuh"

namespace csrkit::gpu::sddmm {

namespace {

constexpr int kDepth = 16;  // columns of X and Y in shared memory
constexpr int kEdge = 4;    // of a lane's places

/// The entries of one row in the columns of a tile: bit c of `mask` is set if column c has one;
/// `first` is the first of them in A.
struct alignas(16) TileRow {
  std::uint64_t mask;
  Offset first;
};

constexpr int threads_of(int tile) { return tile / kEdge * (tile / kEdge); }

/// A thread for each row and tile.
__global__ void __launch_bounds__(256)
    find_tile_rows(DeviceCsrView<void> a, int tile, Index tiles, TileRow* rows) {
  const Offset at = Offset{blockIdx.x} * 256 + threadIdx.x;
  if (at >= Offset{a.rows} * tiles) return;
  const auto row = static_cast<Index>(at / tiles);
  const Offset first_col = at % tiles * tile;
  Offset low = a.row_begin(row), high = a.row_end(row);
  const Offset end = high;
  while (low < high) {
    const Offset middle = low + (high - low) / 2;
    if (a.col_indices[middle] < first_col) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  TileRow found{0, low};
  for (; low < end; ++low) {
    const Offset place = a.col_indices[low] - first_col;
    if (place >= tile) break;
    found.mask |= std::uint64_t{1} << place;
  }
  rows[at] = found;
}

/// A thread's share of kDepth columns, from `col` on, of kTile rows.
template <class T, int kTile, int kWidth>
struct Share {
  static constexpr int kThreads = threads_of(kTile);
  static constexpr int kLoads = kTile * kDepth / kThreads / kWidth;
  static constexpr int kLoadsOfRow = kDepth / kWidth;
  using Load = typename detail::Word<sizeof(T) * kWidth>::type;
  Load loads[kLoads];

  __device__ void load(const Rows<T, std::uint64_t>& from, Index first_row, Index rows, Index col,
                       Index cols) {
#pragma unroll
    for (int n = 0; n < kLoads; ++n) {
      const int i = static_cast<int>(threadIdx.x) + n * kThreads;
      const Index row = first_row + i / kLoadsOfRow;
      const Index here = col + i % kLoadsOfRow * kWidth;
      loads[n] = row < rows && here < cols ? load_word<Load>(from.at(row, here)) : Load{};
    }
  }

  template <class Shared>
  __device__ void store(Shared& to) const {
#pragma unroll
    for (int n = 0; n < kLoads; ++n) {
      const int i = static_cast<int>(threadIdx.x) + n * kThreads;
      Pack<T, kWidth> pack;
      memcpy(&pack, &loads[n], sizeof pack);
#pragma unroll
      for (int item = 0; item < kWidth; ++item) {
        to[i % kLoadsOfRow * kWidth + item][i / kLoadsOfRow] = widen<SumOf<T>>(pack.item[item]);
      }
    }
  }
};

/// Loads four numbers from shared memory, 16 bytes at a time: f32 from one place, f64 from two,
/// which are kApart times 16 bytes apart.
template <int kApart, class Number>
__device__ void load_edge(Number (&to)[kEdge], const Number* from) {
  constexpr int kWords = static_cast<int>(kEdge * sizeof(Number) / sizeof(uint4));
  uint4 words[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = reinterpret_cast<const uint4*>(from)[i * kApart];
  memcpy(to, words, sizeof words);
}

/// The least blocks per multiprocessor. Without the bound the compiler uses 64 registers for large
/// tiles with wide loads, and the loads are serialized.
template <class T, int kTile, int kWidth>
constexpr int kBlocksOfTiles = kTile == 64 && kWidth > 1 && sizeof(SumOf<T>) == 4 ? 3 : 1;

template <class T, int kTile, int kWidth>
__global__ void __launch_bounds__(threads_of(kTile), kBlocksOfTiles<T, kTile, kWidth>)
    dots_of_tiles(DeviceCsrView<void> a, Rows<T, std::uint64_t> x, Rows<T, std::uint64_t> y,
                  Index cols, const TileRow* tile_rows, Index tiles, Ends ends) {
  using Sum = SumOf<T>;
  constexpr int kPadded = kTile + kEdge;  // rows begin in other banks
  __shared__ alignas(16) Sum of_x[2][kDepth][kPadded], of_y[2][kDepth][kPadded];
  const auto first_row = static_cast<Index>(blockIdx.x / tiles * kTile);
  const auto tile_col = static_cast<Index>(blockIdx.x % tiles);
  const int own_row = static_cast<int>(threadIdx.x) / (kTile / kEdge) * kEdge;
  // Neighbouring lanes load neighbouring 16 bytes: no bank conflicts.
  // columns of a lane in one 16-byte load
  constexpr int kBeside = static_cast<int>(16 / sizeof(Sum));
  constexpr int kApart = kTile / kEdge;
  const int own_col = static_cast<int>(threadIdx.x) % (kTile / kEdge) * kBeside;
  TileRow entries[kEdge];
  bool has_entries = false;
#pragma unroll
  for (int r = 0; r < kEdge; ++r) {
    const Index row = first_row + own_row + r;
    entries[r] = {0, 0};
    if (row < a.rows) {
      const uint4 word =
          __ldg(reinterpret_cast<const uint4*>(tile_rows + Offset{row} * tiles + tile_col));
      memcpy(&entries[r], &word, sizeof word);
    }
    has_entries = has_entries || entries[r].mask != 0;
  }
  // Two steps ahead: a step's products take less time than its loads, and few blocks share a
  // multiprocessor.
  Share<T, kTile, kWidth> x_share, y_share, x_behind, y_behind;
  const Index first_col = tile_col * kTile;
  x_share.load(x, first_row, a.rows, 0, cols);
  y_share.load(y, first_col, a.cols, 0, cols);
  x_behind.load(x, first_row, a.rows, kDepth, cols);
  y_behind.load(y, first_col, a.cols, kDepth, cols);
  if (__syncthreads_or(has_entries ? 1 : 0) == 0) return;
  x_share.store(of_x[0]);
  y_share.store(of_y[0]);
  __syncthreads();
  Sum sum[kEdge][kEdge] = {};
  int turn = 0;
  for (Index col = kDepth;; col += kDepth, turn ^= 1) {
    const bool has_more = col < cols;
    x_share = x_behind;
    y_share = y_behind;
    x_behind.load(x, first_row, a.rows, col + kDepth, cols);
    y_behind.load(y, first_col, a.cols, col + kDepth, cols);
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      Sum of_row[kEdge], of_col[kEdge];
      load_edge<1>(of_row, &of_x[turn][k][own_row]);
      load_edge<kApart>(of_col, &of_y[turn][k][own_col]);
#pragma unroll
      for (int r = 0; r < kEdge; ++r) {
#pragma unroll
        for (int c = 0; c < kEdge; ++c) sum[r][c] = fma(of_row[r], of_col[c], sum[r][c]);
      }
    }
    if (!has_more) break;
    x_share.store(of_x[turn ^ 1]);
    y_share.store(of_y[turn ^ 1]);
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kEdge; ++r) {
#pragma unroll
    for (int c = 0; c < kEdge; ++c) {
      const int place = own_col + c / kBeside * kApart * kBeside + c % kBeside;
      const std::uint64_t bit = std::uint64_t{1} << place;
      if ((entries[r].mask & bit) == 0) continue;
      store_entry(ends, entries[r].first + __popcll(entries[r].mask & (bit - 1)), sum[r][c]);
    }
  }
}

template <class T>
class DenseTiles final : public TypedSddmm {
 public:
  explicit DenseTiles(const SddmmProblem& problem)
      : TypedSddmm(problem), rows_(problem.a.rows()), tiling_(rows_, problem.a.cols()) {}

  std::uint64_t workspace_bytes(const SddmmProblem&) const override {
    return static_cast<std::uint64_t>(rows_) * static_cast<std::uint64_t>(tiling_.of_cols) *
           sizeof(TileRow);
  }

  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) override {
    const Offset threads = rows_ * tiling_.of_cols;
    find_tile_rows<<<blocks_of(threads, 256), 256, 0, stream>>>(
        a, tiling_.edge, static_cast<Index>(tiling_.of_cols), static_cast<TileRow*>(workspace));
    CHECK_LAUNCH("find_tile_rows", stream);
  }

  void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void* workspace,
              cudaStream_t stream) override {
    const Launch given{a, call, static_cast<const TileRow*>(workspace), stream};
    constexpr int kWidest = 16 / static_cast<int>(sizeof(SumOf<T>));
    const bool is_wide = has_loads_of(call.x, kWidest) && has_loads_of(call.y, kWidest);
    constexpr int kLarge = DenseTiling::kLarge, kSmall = DenseTiling::kSmall;
    if (tiling_.edge == kLarge) {
      is_wide ? launch_tiles<kLarge, kWidest>(given) : launch_tiles<kLarge, 1>(given);
    } else {
      is_wide ? launch_tiles<kSmall, kWidest>(given) : launch_tiles<kSmall, 1>(given);
    }
  }

 private:
  struct Launch {
    const DeviceCsrView<void>& a;
    const DeviceCall& call;
    const TileRow* tile_rows;
    cudaStream_t stream;
  };

  template <int kTile, int kWidth>
  void launch_tiles(const Launch& given) const {
    const DeviceCall& call = given.call;
    const auto blocks = static_cast<unsigned>(tiling_.tiles());
    dots_of_tiles<T, kTile, kWidth><<<blocks, threads_of(kTile), 0, given.stream>>>(
        given.a, Rows<T, std::uint64_t>(call.x), Rows<T, std::uint64_t>(call.y), call.x.cols,
        given.tile_rows, static_cast<Index>(tiling_.of_cols), ends_of(given.a, call));
    CHECK_LAUNCH("dots_of_tiles", given.stream);
  }

  Index rows_;
  DenseTiling tiling_;
};

}  // namespace

std::unique_ptr<DeviceSddmm> make_device_dense_tiles(const SddmmProblem& problem) {
  return make_typed<DenseTiles>(problem);
}

}  // namespace csrkit::gpu::sddmm
