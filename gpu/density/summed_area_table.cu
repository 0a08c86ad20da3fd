// summed_area_table: nonzeros counted into a grid of cells, then summed along rows and down
// columns.
// Owns     count_cells: a block takes a part of the entries of one grid row, which are contiguous
//          because rows are; scan_rows: a block takes a line; scan_columns: a block takes 32
//          columns, a warp 1/32 of their height
// Reads    column indices once, coalesced; counts go to shared memory (4 bytes a cell) and from
//          there to global memory by one atomic per cell that was hit; where a line of cells does
//          not fit into shared memory, by one per entry. Integer atomics: the same sums in every
//          run. Scans read and write whole lines.
// Launch   256 threads count, so that 8 blocks share a multiprocessor and its shared memory; parts
//          have at least 16,384 entries, so that clearing and adding a line costs little beside
//          them
// Needs    column indices within the matrix, checked when it was read
// Against  core/facts/summed_area_table.cpp, which does the same in the same two passes
#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <vector>

#include "gpu/density/summed_area_table.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_buffer.h"
#include "gpu/device/device_info.h"
#include "gpu/device/grid.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"

namespace csrkit::gpu {

namespace {

using Sum = unsigned long long;  // what atomicAdd and Offset have in common
static_assert(sizeof(Sum) == sizeof(Offset), "sums are copied as they are");

constexpr int kThreads = 256;
constexpr Offset kPartEntries = 16384;
constexpr Offset kMostBlocks = 1 << 18;      // fills any GPU; in a skewed grid most do nothing
constexpr int kMostSharedCells = 12 * 1024;  // 48 KiB, what every launch may have
constexpr Offset kPieceEntries = Offset{1} << 28;
constexpr int kScanItems = 8;
constexpr int kColumns = 32, kStripes = 32;

/// floor(col * cells / cols), as the CPU's table has it. Below 2^50 a multiplication by 1 / cols is
/// exact: half a unit is added, so the product is at least 0.5 / cols away from an integer, and the
/// rounding error is below cells * 2^-51.
struct CellOf {
  std::int64_t cells, cols;
  double inverse;
  bool is_exact_in_double;

  CellOf(std::int64_t cells_, std::int64_t cols_)
      : cells(cells_),
        cols(cols_),
        inverse(cols_ > 0 ? 1.0 / static_cast<double>(cols_) : 0),
        is_exact_in_double(cells_ * cols_ < (std::int64_t{1} << 50)) {}

  __device__ unsigned operator()(Index col) const {
    const std::int64_t place = std::int64_t{col} * cells;
    return is_exact_in_double ? static_cast<unsigned>((static_cast<double>(place) + 0.5) * inverse)
                              : static_cast<unsigned>(place / cols);
  }
};

/// `begins[g]`: the first entry of grid row g. `col_indices` holds the columns of entries [first,
/// last), a piece of A.
template <bool kIsShared>
__global__ void count_cells(const Offset* begins, const Index* col_indices, Offset first,
                            Offset last, CellOf cell_of, Offset width, Sum* sums) {
  extern __shared__ unsigned counts[];
  const Index g = static_cast<Index>(blockIdx.x);
  const Offset begin = max(begins[g], first), end = min(begins[g + 1], last);
  if (begin >= end) return;
  const Offset part = (end - begin + gridDim.y - 1) / gridDim.y;
  const Offset part_begin = begin + part * blockIdx.y, part_end = min(part_begin + part, end);
  if (part_begin >= part_end) return;
  Sum* const line = sums + (Offset{g} + 1) * width + 1;
  const int cells = static_cast<int>(cell_of.cells);
  if constexpr (kIsShared) {
    for (int cell = static_cast<int>(threadIdx.x); cell < cells; cell += kThreads) counts[cell] = 0;
    __syncthreads();
  }
  for (Offset at = part_begin + threadIdx.x; at < part_end; at += kThreads) {
    const unsigned cell = cell_of(col_indices[at - first]);
    if constexpr (kIsShared) {
      atomicAdd(&counts[cell], 1u);  // a piece has 2^28 entries: no overflow
    } else {
      atomicAdd(&line[cell], Sum{1});
    }
  }
  if constexpr (kIsShared) {
    __syncthreads();
    for (int cell = static_cast<int>(threadIdx.x); cell < cells; cell += kThreads) {
      if (counts[cell] != 0) atomicAdd(&line[cell], Sum{counts[cell]});
    }
  }
}

/// Inclusive sums along every line. The first line holds zeros and is left out.
__global__ void scan_rows(Sum* sums, Offset width) {
  using Scan = cub::BlockScan<Sum, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  Sum* const line = sums + (Offset{blockIdx.x} + 1) * width;
  Sum carry = 0;
  for (Offset tile = 0; tile < width; tile += kThreads * kScanItems) {
    Sum items[kScanItems];
    const Offset begin = tile + Offset{threadIdx.x} * kScanItems;
#pragma unroll
    for (int i = 0; i < kScanItems; ++i) items[i] = begin + i < width ? line[begin + i] : 0;
    Sum total;
    Scan(storage).InclusiveSum(items, items, total);
#pragma unroll
    for (int i = 0; i < kScanItems; ++i) {
      if (begin + i < width) line[begin + i] = items[i] + carry;
    }
    carry += total;
    __syncthreads();  // the storage is used again
  }
}

/// Inclusive sums down the columns: a thread adds up its stripe of a column, sums up the stripes
/// above it, and writes in a second pass.
__global__ void scan_columns(Sum* sums, Offset width, Offset height) {
  __shared__ Sum totals[kStripes][kColumns];
  const Offset col = Offset{blockIdx.x} * kColumns + threadIdx.x;
  const Offset stripe = (height + kStripes - 1) / kStripes;
  const Offset begin = min(stripe * threadIdx.y, height), end = min(begin + stripe, height);
  Sum total = 0;
  if (col < width) {
    for (Offset row = begin; row < end; ++row) total += sums[row * width + col];
  }
  totals[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (col >= width) return;
  Sum running = 0;
  for (unsigned above = 0; above < threadIdx.y; ++above) running += totals[above][threadIdx.x];
  for (Offset row = begin; row < end; ++row) {
    running += sums[row * width + col];
    sums[row * width + col] = running;
  }
}

}  // namespace

SumTimes fill_sums(const CsrMatrix& matrix, const SummedAreaTable& grid, Offset* sums, int device,
                   std::uint64_t memory_limit_bytes) {
  require_device(device);
  const DeviceScope scope(device);
  const Stream stream(nullptr);
  DeviceMemory memory(device, stream.get(), memory_limit_bytes);
  const Offset rows = grid.grid_rows(), width = Offset{grid.grid_cols()} + 1;
  const Offset size = (rows + 1) * width;
  const Offset piece = std::min(std::max<Offset>(matrix.nnz(), 1), kPieceEntries);
  memory.require(static_cast<std::uint64_t>(size + rows + 1) * sizeof(Offset) +
                     static_cast<std::uint64_t>(piece) * sizeof(Index),
                 "the summed-area table with a piece of the column indices");
  const DeviceBuffer<Sum> device_sums(memory, size, "the summed-area table");
  const DeviceBuffer<Offset> device_begins(memory, rows + 1, "the borders of grid rows");
  const DeviceBuffer<Index> col_indices(memory, piece, "column indices");

  std::vector<Offset> begins(static_cast<std::size_t>(rows) + 1);
  for (Index g = 0; g <= grid.grid_rows(); ++g) {
    begins[static_cast<std::size_t>(g)] = matrix.row_offsets()[grid.row_begin(g)];
  }
  CHECK_CUDA(cudaMemcpyAsync(device_begins.data(), begins.data(), device_begins.size_bytes(),
                             cudaMemcpyHostToDevice, stream.get()));
  CHECK_CUDA(cudaMemsetAsync(device_sums.data(), 0, device_sums.size_bytes(), stream.get()));

  SumTimes times;
  GpuTimer timer;
  const auto timed = [&](double& seconds, auto&& work) {
    timer.start(stream.get());
    work();
    timer.stop(stream.get());
    seconds += timer.seconds();
  };
  const CellOf cell_of(grid.grid_cols(), grid.cols());
  const bool is_shared = grid.grid_cols() <= kMostSharedCells;
  const std::size_t shared_bytes =
      is_shared ? static_cast<std::size_t>(grid.grid_cols()) * sizeof(unsigned) : 0;
  for (Offset first = 0; first < matrix.nnz(); first += piece) {
    const Offset last = std::min(first + piece, matrix.nnz());
    timed(times.upload_seconds, [&] {
      CHECK_CUDA(cudaMemcpyAsync(col_indices.data(), matrix.col_indices() + first,
                                 static_cast<std::size_t>(last - first) * sizeof(Index),
                                 cudaMemcpyHostToDevice, stream.get()));
    });
    // The fullest grid row decides: hubs may stand side by side.
    Offset fullest = 0;
    for (std::size_t g = 0; g + 1 < begins.size(); ++g) {
      fullest = std::max(fullest, std::min(begins[g + 1], last) - std::max(begins[g], first));
    }
    const auto parts = static_cast<unsigned>(
        std::clamp<Offset>((fullest + kPartEntries - 1) / kPartEntries, 1,
                           std::clamp<Offset>(kMostBlocks / rows, 1, kMaxGridY)));
    timed(times.count_seconds, [&] {
      const dim3 blocks(static_cast<unsigned>(rows), parts);
      if (is_shared) {
        count_cells<true><<<blocks, kThreads, shared_bytes, stream.get()>>>(
            device_begins.data(), col_indices.data(), first, last, cell_of, width,
            device_sums.data());
      } else {
        count_cells<false>
            <<<blocks, kThreads, 0, stream.get()>>>(device_begins.data(), col_indices.data(), first,
                                                    last, cell_of, width, device_sums.data());
      }
      CHECK_LAUNCH("count_cells", stream.get());
    });
  }
  timed(times.scan_seconds, [&] {
    scan_rows<<<static_cast<unsigned>(rows), kThreads, 0, stream.get()>>>(device_sums.data(),
                                                                          width);
    CHECK_LAUNCH("scan_rows", stream.get());
    scan_columns<<<blocks_of(width, kColumns), dim3(kColumns, kStripes), 0, stream.get()>>>(
        device_sums.data() + width, width, rows);
    CHECK_LAUNCH("scan_columns", stream.get());
  });
  timed(times.download_seconds, [&] {
    CHECK_CUDA(cudaMemcpyAsync(sums, device_sums.data(), device_sums.size_bytes(),
                               cudaMemcpyDeviceToHost, stream.get()));
  });
  return times;
}

}  // namespace csrkit::gpu
