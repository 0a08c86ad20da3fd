// Groups rows into panels, and the columns of each panel's rows into tiles.

#include <cub/device/device_scan.cuh>
#include <cuda/functional>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/find_in_rows.cuh"
#include "gpu/device/grid.h"
#include "gpu/device/scan.h"
#include "gpu/device/warp.cuh"
#include "gpu/sddmm/row_panels/lists.h"

namespace csrkit::gpu::sddmm {

namespace {

constexpr int kThreads = 128;
constexpr const char* kScratch = "scratch for panels";
/// Tiles of a piece; small, so that small matrices have enough pieces to occupy the device.
constexpr int kPieceTiles = 4;

/// A warp a row: whether it has the same columns as the row before.
__global__ void __launch_bounds__(kThreads) find_twins(DeviceCsrView<void> a, Index* is_twin) {
  const Offset row = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (row >= a.rows) return;
  const auto own = static_cast<Index>(row);
  const Offset begin = a.row_begin(own), length = a.row_end(own) - begin;
  bool is_same = own > 0 && length > 0 && begin - a.row_begin(own - 1) == length;
  for (Offset i = 0; is_same && i < length; i += kWarpLanes) {
    const Offset at = begin + i + lane;
    const bool differs =
        i + lane < length && __ldg(a.col_indices + at) != __ldg(a.col_indices + at - length);
    is_same = __any_sync(kAllLanes, differs) == 0;
  }
  if (lane == 0) is_twin[own] = is_same ? 1 : 0;
}

/// runs[row] = row where a run of rows begins, else 0. A run is either of twins (rows with the same
/// columns) or of rows without a twin. A maximum scan turns this into the first row of each row's
/// run.
__global__ void __launch_bounds__(kThreads)
    find_runs(const Index* is_twin, Index rows, Index* runs) {
  const Offset row = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  const bool has_twin = row + 1 < rows && is_twin[row + 1] != 0;
  const bool begins = is_twin[row] == 0 && (has_twin || (row > 0 && is_twin[row - 1] != 0));
  runs[row] = begins ? static_cast<Index>(row) : 0;
}

/// The panel that begins at a row: up to kPanelRows rows of one run. `rows` is 0 where no panel
/// begins.
struct Panel {
  Index rows = 0;
  Offset begin = 0;  // its first entry
  RowRanges<kPanelRows> ranges;

  __device__ Panel(const DeviceCsrView<void>& a, const Index* runs, Index row) {
    const Index run = runs[row];
    if ((row - run) % kPanelRows != 0) return;
    rows = 1;
    while (rows < kPanelRows && row + rows < a.rows && runs[row + rows] == run) ++rows;
    begin = a.row_begin(row);
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) {
      const Index here = row + min(r, rows - 1);
      ranges.end[r] = static_cast<Index>(a.row_end(here) - begin);
      ranges.begin[r] = r < rows ? static_cast<Index>(a.row_begin(here) - begin) : ranges.end[r];
    }
  }
};

/// Calls use(i, col, at) for the panel's i-th column, which is `col`; at[r] as in find_in_rows.
/// Returns the number of columns. By a whole block.
template <class Use>
__device__ Index for_each_column(const DeviceCsrView<void>& a, const Panel& panel, Use use) {
  constexpr int kWarps = kThreads / kWarpLanes;
  __shared__ int of_warps[2][kWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpLanes, own_warp = thread / kWarpLanes;
  const ColumnsInA cols{a.col_indices + panel.begin};
  const Index total = panel.ranges.entries();
  Index found = 0;
  int turn = 0;
  for (Index from = 0; from < total; from += kThreads, turn ^= 1) {
    bool is_first = from + thread < total;  // the first of the panel's entries in its column
    int row = 0;
    Index entry = from + thread, own_begin = panel.ranges.begin[0];  // of the row
#pragma unroll
    for (int r = 0; r + 1 < kPanelRows; ++r) {
      const Index here = panel.ranges.end[r] - panel.ranges.begin[r];
      if (row < r || entry < here) continue;
      row = r + 1;
      own_begin = panel.ranges.begin[r + 1];
      entry -= here;
    }
    Index at[kPanelRows], col = 0;
    if (is_first) {
      col = cols[own_begin + entry];
      is_first = find_in_rows(cols, panel.ranges, col, row, entry, at);
    }
    const unsigned firsts = __ballot_sync(kAllLanes, is_first);
    if (lane == 0) of_warps[turn][own_warp] = __popc(firsts);
    __syncthreads();
    Index before = found + __popc(firsts & ((1u << lane) - 1));
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      if (warp < own_warp) before += of_warps[turn][warp];
      found += of_warps[turn][warp];
    }
    if (is_first) use(before, col, at);
  }
  return found;
}

__device__ Index tiles_of(Index cols) { return (cols + kTileCols - 1) / kTileCols; }
__device__ Index pieces_of(Index tiles) { return (tiles + kPieceTiles - 1) / kPieceTiles; }

/// A block a row, with work where a panel begins, and one block more: the scans end with the
/// totals.
__global__ void __launch_bounds__(kThreads)
    count_tiles(DeviceCsrView<void> a, const Index* runs, Index* tiles, Index* pieces) {
  const auto row = static_cast<Index>(blockIdx.x);
  Index count = 0;
  if (row < a.rows) {
    const Panel panel(a, runs, row);
    if (panel.rows > 0) {
      count = tiles_of(for_each_column(a, panel, [](Index, Index, const Index(&)[kPanelRows]) {}));
    }
  }
  if (threadIdx.x != 0) return;
  tiles[row] = count;
  pieces[row] = pieces_of(count);
}

/// A block a row, with work where a panel begins.
__global__ void __launch_bounds__(kThreads)
    fill_tiles(DeviceCsrView<void> a, const Index* runs, const Index* first_tiles,
               const Index* first_pieces, PanelPiece* all_pieces, Index* all_cols,
               Index* all_entries) {
  const auto row = static_cast<Index>(blockIdx.x);
  const Panel panel(a, runs, row);
  if (panel.rows == 0) return;
  const Index first_tile = first_tiles[row];
  Index* const cols = all_cols + Offset{first_tile} * kTileCols;
  Index* const entries = all_entries + Offset{first_tile} * kTilePlaces;
  const Index count =
      for_each_column(a, panel, [&](Index i, Index col, const Index(&at)[kPanelRows]) {
        cols[i] = col;
        Index* const of_tile = entries + Offset{i / kTileCols} * kTilePlaces;
#pragma unroll
        for (int r = 0; r < kPanelRows; ++r) {
          const bool has = r < panel.rows && at[r] >= 0;
          of_tile[r * kTileCols + i % kTileCols] = has ? at[r] - panel.ranges.begin[r] : -1;
        }
      });
  const Index tiles = tiles_of(count);
  if (const auto i = count + static_cast<Index>(threadIdx.x); i < tiles * kTileCols) {
    // padding: any valid column will do, as no row has an entry there
    cols[i] = __ldg(a.col_indices + panel.begin);
    Index* const of_tile = entries + Offset{i / kTileCols} * kTilePlaces;
#pragma unroll
    for (int r = 0; r < kPanelRows; ++r) of_tile[r * kTileCols + i % kTileCols] = -1;
  }
  for (auto i = static_cast<Index>(threadIdx.x); i < pieces_of(tiles); i += kThreads) {
    const Index done = i * kPieceTiles;
    all_pieces[first_pieces[row] + i] = {row, panel.rows, first_tile + done,
                                         min(kPieceTiles, tiles - done)};
  }
}

/// Exclusive prefix sums in place; returns the last, the sum of all but the last number. Waits.
Index sum_before(DeviceBuffer<Index>& numbers, DeviceMemory& memory) {
  const auto size = static_cast<int>(numbers.size());
  with_cub_scratch(memory, kScratch, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, numbers.data(), numbers.data(), size,
                                         memory.stream());
  });
  return fetch(numbers.data() + size - 1, memory.stream());
}

}  // namespace

void TileLists::count(const DeviceCsrView<void>& a, DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  const Offset rows = a.rows;
  runs_ = {memory, rows, "runs of rows"};
  first_tiles_ = {memory, rows + 1, "tiles of panels"};
  first_pieces_ = {memory, rows + 1, "pieces of panels"};
  Index* const is_twin = first_tiles_.data();
  find_twins<<<blocks_of(rows * kWarpLanes, kThreads), kThreads, 0, stream>>>(a, is_twin);
  CHECK_LAUNCH("find_twins", stream);
  find_runs<<<blocks_of(rows, kThreads), kThreads, 0, stream>>>(is_twin, a.rows, runs_.data());
  CHECK_LAUNCH("find_runs", stream);
  with_cub_scratch(memory, kScratch, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, runs_.data(), runs_.data(),
                                          cuda::maximum<>{}, a.rows, stream);
  });
  count_tiles<<<static_cast<unsigned>(rows + 1), kThreads, 0, stream>>>(
      a, runs_.data(), first_tiles_.data(), first_pieces_.data());
  CHECK_LAUNCH("count_tiles", stream);
  tiles_ = sum_before(first_tiles_, memory);
  count_ = sum_before(first_pieces_, memory);
}

double TileLists::fill(Offset nnz) const {
  return static_cast<double>(nnz) / (static_cast<double>(tiles_) * kTilePlaces);
}

void TileLists::make(const DeviceCsrView<void>& a, DeviceMemory& memory) {
  const cudaStream_t stream = memory.stream();
  pieces_ = {memory, count_, "pieces of panels"};
  cols_ = {memory, Offset{tiles_} * kTileCols, "columns of panels"};
  entries_ = {memory, Offset{tiles_} * kTilePlaces, "entries of panels"};
  fill_tiles<<<static_cast<unsigned>(a.rows), kThreads, 0, stream>>>(
      a, runs_.data(), first_tiles_.data(), first_pieces_.data(), pieces_.data(), cols_.data(),
      entries_.data());
  CHECK_LAUNCH("fill_tiles", stream);
  CHECK_CUDA(cudaStreamSynchronize(stream));
  runs_ = {};
  first_tiles_ = {};
  first_pieces_ = {};
}

std::uint64_t TileLists::counting_bytes(Index rows) {
  const Offset numbers = Offset{rows} + 1;
  return 3 * static_cast<std::uint64_t>(numbers) * sizeof(Index) + scan_scratch_bound(numbers);
}

std::uint64_t TileLists::making_bytes() const {
  return static_cast<std::uint64_t>(tiles_) * (kTileCols + kTilePlaces) * sizeof(Index) +
         static_cast<std::uint64_t>(count_) * sizeof(PanelPiece);
}

TileListsView TileLists::view() const {
  return {pieces_.data(), count_, cols_.data(), entries_.data()};
}

}  // namespace csrkit::gpu::sddmm
