#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_partition.cuh>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/spmm/ladder/nnz_split_pieces.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;

struct Counters {
  Index nonempty_rows;
  unsigned cut_rows;
  unsigned most_pieces;
};

struct IsNotEmpty {
  DeviceOffsets offsets;
  __device__ bool operator()(Index row) const { return offsets[row] < offsets[Offset{row} + 1]; }
};

// One thread per row: marks the row's last entry, and lists the row if it is to be cut. The list's
// order varies from run to run; nothing depends on it, since every cut row is added up by itself.
__global__ void mark_rows(DeviceOffsets offsets, Offset base, Index rows, int piece_entries,
                          std::uint32_t* row_ends, CutRow* cut_rows, Counters* counters) {
  const Offset row = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  const Offset begin = offsets[row] - base, end = offsets[row + 1] - base;
  if (begin == end) return;
  atomicOr(row_ends + ((end - 1) >> 5), 1u << ((end - 1) & 31));
  if (end - begin > piece_entries) {
    const Offset first = begin / piece_entries;
    const auto pieces = static_cast<Index>((end - 1) / piece_entries - first + 1);
    cut_rows[atomicAdd(&counters->cut_rows, 1u)] = {static_cast<Index>(row), pieces, first};
    atomicMax(&counters->most_pieces, static_cast<unsigned>(pieces));
  }
}

// One thread per boundary: finds the row that it falls into by bisection.
__global__ void place_boundaries(DeviceOffsets offsets, Offset base, Offset nnz, int piece_entries,
                                 Offset count, const Index* rows, const Counters* counters,
                                 Offset* starts, Index* first_ranks) {
  const Offset piece = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (piece > count) return;
  if (piece == count) {
    starts[piece] = nnz;
    return;
  }
  const Offset boundary = piece * piece_entries;
  Index low = 0, high = counters->nonempty_rows;  // begin(low) <= boundary < begin(high)
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    if (offsets[rows[middle]] - base <= boundary) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const Index row = rows[low];
  const Offset begin = offsets[row] - base, end = offsets[Offset{row} + 1] - base;
  const bool is_cut_here = end - begin > piece_entries && boundary > begin;
  starts[piece] = is_cut_here ? boundary : begin;
  first_ranks[piece] = is_cut_here ? ~low : low;
}

}  // namespace

PieceMaker::PieceMaker(Index rows, Offset nnz, int piece_entries)
    : rows_(rows), nnz_(nnz), piece_entries_(piece_entries) {
  max_pieces_ = (nnz + piece_entries - 1) / piece_entries;
  scratch_bytes_ = scan_scratch_bound(rows);
  WorkspaceLayout layout;
  counters_at_ = layout.reserve<Counters>(1);
  ends_at_ = layout.reserve<std::uint32_t>((nnz + 31) / 32);
  starts_at_ = layout.reserve<Offset>(max_pieces_ + 1);
  ranks_at_ = layout.reserve<Index>(max_pieces_);
  rows_at_ = layout.reserve<Index>(rows);
  // A cut row is longer than a piece, so there are fewer of them than pieces.
  cut_rows_at_ = layout.reserve<CutRow>(max_pieces_);
  scratch_at_ = layout.reserve_bytes(scratch_bytes_);
  bytes_ = layout.bytes();
}

void PieceMaker::analyse(const DeviceOffsets& offsets, Offset base, void* workspace,
                         cudaStream_t stream) const {
  if (rows_ == 0) return;
  auto* bytes = static_cast<std::byte*>(workspace);
  auto* counters = reinterpret_cast<Counters*>(bytes + counters_at_);
  auto* row_ends = reinterpret_cast<std::uint32_t*>(bytes + ends_at_);
  auto* rows = reinterpret_cast<Index*>(bytes + rows_at_);
  // Counters and bits are neighbours: one clearing.
  CHECK_CUDA(cudaMemsetAsync(counters, 0, starts_at_ - counters_at_, stream));
  std::size_t scratch = scratch_bytes_;
  CHECK_CUDA(
      cub::DevicePartition::If(bytes + scratch_at_, scratch, thrust::counting_iterator<Index>(0),
                               rows, &counters->nonempty_rows, rows_, IsNotEmpty{offsets}, stream));
  mark_rows<<<blocks_of(rows_, kThreads), kThreads, 0, stream>>>(
      offsets, base, rows_, piece_entries_, row_ends,
      reinterpret_cast<CutRow*>(bytes + cut_rows_at_), counters);
  CHECK_LAUNCH("mark_rows", stream);
  place_boundaries<<<blocks_of(max_pieces_ + 1, kThreads), kThreads, 0, stream>>>(
      offsets, base, nnz_, piece_entries_, max_pieces_, rows, counters,
      reinterpret_cast<Offset*>(bytes + starts_at_), reinterpret_cast<Index*>(bytes + ranks_at_));
  CHECK_LAUNCH("place_boundaries", stream);
}

PieceMaker::Result PieceMaker::finish(void* workspace, cudaStream_t stream) const {
  Result result;
  if (rows_ == 0) return result;
  const auto* bytes = static_cast<const std::byte*>(workspace);
  Counters counters = {};
  CHECK_CUDA(cudaMemcpyAsync(&counters, bytes + counters_at_, sizeof counters,
                             cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  result.pieces.count = max_pieces_;
  result.pieces.nonempty_rows = counters.nonempty_rows;
  result.pieces.empty_rows = rows_ - counters.nonempty_rows;
  result.pieces.starts = reinterpret_cast<const Offset*>(bytes + starts_at_);
  result.pieces.first_ranks = reinterpret_cast<const Index*>(bytes + ranks_at_);
  result.pieces.row_ends = reinterpret_cast<const std::uint32_t*>(bytes + ends_at_);
  if (result.pieces.empty_rows > 0) {
    result.pieces.rows = reinterpret_cast<const Index*>(bytes + rows_at_);
  }
  result.cut_rows = reinterpret_cast<const CutRow*>(bytes + cut_rows_at_);
  result.cut_row_count = static_cast<Index>(counters.cut_rows);
  result.most_pieces = static_cast<Index>(counters.most_pieces);
  return result;
}

}  // namespace csrkit::gpu
