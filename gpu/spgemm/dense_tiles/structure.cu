// The structure of C in dense_tiles: the columns of its rows, as bits.
// Owns     spread_columns: a warp takes a row of B. mark_columns: a block takes a row of C, a
//          thread 128 columns of it or, where there are few columns, every n-th source of them
// Reads    B's columns once; then, per entry of A, one row of B's bits, 16 bytes a lane, from L2:
//          1/32 of the bytes of the columns where B is dense
// Launch   256 threads; 128 threads
// Needs    sorted columns
// Against  marking products one by one in shared memory: here 128 columns are one load and one OR

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spgemm/dense_tiles/dense_tiles.h"

namespace csrkit::gpu {

namespace {

constexpr int kSpreadThreads = 256;
constexpr int kMarkThreads = 128;
constexpr int kOrderThreads = 1024;

__device__ int bits_in(const uint4& quad) {
  return __popc(quad.x) + __popc(quad.y) + __popc(quad.z) + __popc(quad.w);
}

/// By a warp: counts a row's entries before each quad, from its bits; returns their total.
__device__ int number_entries(const SpreadColumns& spread, Index row) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  const Offset quads = spread.bits.quads;
  const uint4* const bits = spread.bits.quads_of_rows + row * quads;
  std::uint32_t* const starts = spread.starts + row * (quads + 1);
  int before = 0;
  for (Offset first = 0; first < quads; first += 32) {
    const Offset quad = first + lane;
    const int own = quad < quads ? bits_in(__ldcg(bits + quad)) : 0;
    int sum = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (quad < quads) starts[quad] = static_cast<std::uint32_t>(before + sum - own);
    before += __shfl_sync(kAllLanes, sum, 31);
  }
  if (lane == 0) starts[quads] = static_cast<std::uint32_t>(before);
  return before;
}

__global__ void __launch_bounds__(kSpreadThreads)
    spread_rows(DeviceCsrView<float> b, SpreadColumns spread) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  const Offset row = Offset{blockIdx.x} * (kSpreadThreads / 32) + threadIdx.x / 32;
  if (row >= b.rows) return;  // a whole warp
  const Index quads = spread.bits.quads;
  uint4* const bits = spread.bits.quads_of_rows + row * quads;
  for (Index q = lane; q < quads; q += 32) bits[q] = make_uint4(0, 0, 0, 0);
  __syncwarp();
  const Offset end = b.row_end(static_cast<Index>(row));
  constexpr int kAhead = 8;
  for (Offset at = b.row_begin(static_cast<Index>(row)); at < end; at += 32 * kAhead) {
    Index cols[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const Offset mine = at + u * 32 + lane;
      cols[u] = mine < end ? __ldg(b.col_indices + mine) : -1;
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (at + u * 32 >= end) break;  // the whole warp
      const Index col = cols[u];
      const unsigned mates = __match_any_sync(kAllLanes, col >> 5);
      const unsigned word = __reduce_or_sync(mates, col >= 0 ? 1u << (col & 31) : 0u);
      const bool is_first = (mates & ((1u << lane) - 1)) == 0;
      if (is_first && col >= 0) {
        atomicOr(reinterpret_cast<std::uint32_t*>(bits) + (col >> 5), word);
      }
    }
  }
  __syncwarp();
  number_entries(spread, static_cast<Index>(row));
}

/// The bits of a quad that stand for existing columns.
__device__ uint4 possible_quad(Index quad, Index cols) {
  const auto word = [&](int number) {
    const Offset left = cols - Offset{quad} * kQuadCols - number * 32;
    return left >= 32 ? ~0u : left <= 0 ? 0u : (1u << left) - 1;
  };
  return make_uint4(word(0), word(1), word(2), word(3));
}

/// The columns of one quad in the sources at, at + step, ...
__device__ uint4 mark_quad(const DeviceCsrView<float>& a, const ColumnBits& of_b, Offset at,
                           Offset end, int step, Index quad, const uint4& possible) {
  constexpr int kAhead = 8;
  uint4 all = make_uint4(0, 0, 0, 0);
  for (; at < end; at += Offset{kAhead} * step) {
    Index sources[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      sources[u] = at + u * step < end ? __ldg(a.col_indices + at + u * step) : -1;
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (sources[u] < 0) continue;
      const uint4 some = __ldg(of_b.quads_of_rows + Offset{sources[u]} * of_b.quads + quad);
      all.x |= some.x;
      all.y |= some.y;
      all.z |= some.z;
      all.w |= some.w;
    }
    if (all.x == possible.x && all.y == possible.y && all.z == possible.z && all.w == possible.w) {
      break;  // all columns are found
    }
  }
  return all;
}

__global__ void __launch_bounds__(kMarkThreads)
    mark_rows(DeviceCsrView<float> a, ColumnBits of_b, Index cols, SpreadColumns c,
              std::uint32_t* counts) {
  __shared__ std::uint32_t words[4 * kMarkThreads];
  const auto row = static_cast<Index>(blockIdx.x);
  const int rank = static_cast<int>(threadIdx.x);
  const Index quads = of_b.quads;
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  uint4* const marked = c.bits.quads_of_rows + Offset{row} * quads;
  const int groups = quads < kMarkThreads ? kMarkThreads / quads : 1;
  if (groups > 1) {
    for (int i = rank; i < 4 * quads; i += kMarkThreads) words[i] = 0;
    __syncthreads();
    const int group = rank / quads, quad = rank % quads;
    if (group < groups) {
      const uint4 quad_bits =
          mark_quad(a, of_b, begin + group, end, groups, quad, possible_quad(quad, cols));
      atomicOr(words + 4 * quad, quad_bits.x);
      atomicOr(words + 4 * quad + 1, quad_bits.y);
      atomicOr(words + 4 * quad + 2, quad_bits.z);
      atomicOr(words + 4 * quad + 3, quad_bits.w);
    }
    __syncthreads();
    if (rank < quads) {
      marked[rank] = make_uint4(words[4 * rank], words[4 * rank + 1], words[4 * rank + 2],
                                words[4 * rank + 3]);
    }
  } else {
    for (Index quad = rank; quad < quads; quad += kMarkThreads) {
      marked[quad] = mark_quad(a, of_b, begin, end, 1, quad, possible_quad(quad, cols));
    }
  }
  __syncthreads();
  if (rank >= 32) return;
  const int count = number_entries(c, row);
  if (rank == 0) {
    counts[row] = static_cast<std::uint32_t>(count);
    if (row == 0) counts[a.rows] = 0;
  }
}

/// A counting sort by length, by one block. The order within a step differs from run to run; only
/// time depends on it.
__global__ void __launch_bounds__(kOrderThreads) order_rows(DeviceCsrView<float> a, Index* order) {
  __shared__ int counts[kOrderThreads];
  __shared__ int sums_of_warps[32];
  const int rank = static_cast<int>(threadIdx.x), lane = rank & 31;
  const auto step_of = [&](Index row) {
    const Offset length = a.row_end(row) - a.row_begin(row);
    return kOrderThreads - 1 - static_cast<int>(length * kOrderThreads / (Offset{a.cols} + 1));
  };
  counts[rank] = 0;
  __syncthreads();
  for (Offset row = rank; row < a.rows; row += kOrderThreads) {
    atomicAdd(counts + step_of(static_cast<Index>(row)), 1);
  }
  __syncthreads();
  const int own = counts[rank];
  int sum = own;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(kAllLanes, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) sums_of_warps[rank / 32] = sum;
  __syncthreads();
  int before = 0;
  for (int warp = 0; warp < rank / 32; ++warp) before += sums_of_warps[warp];
  counts[rank] = before + sum - own;
  __syncthreads();
  for (Offset row = rank; row < a.rows; row += kOrderThreads) {
    const auto place = atomicAdd(counts + step_of(static_cast<Index>(row)), 1);
    order[place] = static_cast<Index>(row);
  }
}

}  // namespace

void spread_columns(const DeviceCsrView<float>& b, const SpreadColumns& spread,
                    cudaStream_t stream) {
  constexpr Offset kRows = kSpreadThreads / 32;
  const auto blocks = checked_cast<unsigned>((b.rows + kRows - 1) / kRows, "rows of B");
  spread_rows<<<blocks, kSpreadThreads, 0, stream>>>(b, spread);
  CHECK_LAUNCH("spread_rows", stream);
}

void mark_columns(const DeviceCsrView<float>& a, const ColumnBits& of_b, Index cols,
                  const SpreadColumns& c, std::uint32_t* counts, cudaStream_t stream) {
  mark_rows<<<static_cast<unsigned>(a.rows), kMarkThreads, 0, stream>>>(a, of_b, cols, c, counts);
  CHECK_LAUNCH("mark_rows", stream);
}

void order_by_length(const DeviceCsrView<float>& a, Index* order, cudaStream_t stream) {
  order_rows<<<1, kOrderThreads, 0, stream>>>(a, order);
  CHECK_LAUNCH("order_rows", stream);
}

}  // namespace csrkit::gpu
