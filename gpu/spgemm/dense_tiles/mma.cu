// The values of C in dense_tiles on tensor cores: both operands as dense tiles, in f64.
// Owns     a block: 128 x 64 of C, a warp 32 x 32 of them, in registers
// Reads    A's and B's entries once per block, by the bits of their columns, into two dense tiles
//          in shared memory, 64 columns of A at a time; products of 16 x 8 x 8 by mma.sync. Rows of
//          tiles are 68 numbers apart, so loads have no bank conflicts
// Launch   256 threads, 102 KiB, so two blocks: one fills its tiles while the other multiplies
// Needs    compute capability 9.0; bits of A's, B's and C's columns. Rows that meet an infinity or
//          NaN are left out, as 0 times infinity is not 0: find_special_rows lists them for
//          make_dense_tiles
// Against  values.cu, a load per entry of A: less work where A is sparse. Here is less work from a
//          density of a fifth in f64, two fifths in f32 (widened to f64, sums rounded once). The
//          order of sums depends only on the columns of A

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spgemm/dense_tiles/dense_tiles.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kBlockRows = 128, kBlockCols = 64, kDepth = 64;
constexpr int kStride = kDepth + 4;  // of both tiles; 4 modulo 16: no bank conflicts
static_assert(kBlockCols == kDepth && kStride % 16 == 4);
constexpr int kSharedBytes = (kBlockRows + kDepth) * kStride * static_cast<int>(sizeof(double));
constexpr int kWarpRows = 32, kWarpCols = 32;
constexpr int kRowTiles = kWarpRows / 16, kColTiles = kWarpCols / 8;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#else
__device__ void multiply_add(double (&)[4], const double (&)[4], const double (&)[2]) {
  __trap();  // the host checks the device first
}
#endif

/// Expands 64 columns from `col` on of `count` rows from `first` on, zeros included. A warp takes a
/// row.
template <class Value>
__device__ void fill_tile(const DeviceCsrView<Value>& matrix, const SpreadColumns& spread,
                          Index first, int count, Index col, double* tile) {
  constexpr int kAhead = 4, kWarps = kThreads / 32;
  const int lane = static_cast<int>(threadIdx.x & 31);
  const unsigned lower = (1u << lane) - 1;
  const Offset quads = spread.bits.quads;
  const Index quad = col / kQuadCols;
  const bool is_right = col % kQuadCols != 0;
  for (int begin = static_cast<int>(threadIdx.x / 32); begin < count; begin += kWarps * kAhead) {
    uint4 bits[kAhead];
    Offset at[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      const Offset row = Offset{first} + begin + u * kWarps;
      bits[u] = make_uint4(0, 0, 0, 0);
      at[u] = 0;
      if (begin + u * kWarps < count && row < matrix.rows) {
        bits[u] = __ldg(spread.bits.quads_of_rows + row * quads + quad);
        at[u] = matrix.row_begin(static_cast<Index>(row)) +
                __ldg(spread.starts + row * (quads + 1) + quad);
      }
    }
    Value left[kAhead], right[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (is_right) at[u] += __popc(bits[u].x) + __popc(bits[u].y);
      const unsigned word = is_right ? bits[u].z : bits[u].x;
      const unsigned next = is_right ? bits[u].w : bits[u].y;
      const Offset its = at[u] + __popc(word & lower);
      const Offset its_next = at[u] + __popc(word) + __popc(next & lower);
      const bool has = (word >> lane & 1) != 0, has_next = (next >> lane & 1) != 0;
      const bool has_values = matrix.values != nullptr;
      left[u] = !has ? Value{0} : has_values ? __ldg(matrix.values + its) : Value{1};
      right[u] = !has_next ? Value{0} : has_values ? __ldg(matrix.values + its_next) : Value{1};
    }
#pragma unroll
    for (int u = 0; u < kAhead; ++u) {
      if (begin + u * kWarps >= count) continue;
      double* const row = tile + (begin + u * kWarps) * kStride;
      row[lane] = static_cast<double>(left[u]);
      row[lane + 32] = static_cast<double>(right[u]);
    }
  }
}

template <class Value>
__global__ void __launch_bounds__(kThreads, 2)
    multiply_tiles(DenseTiles<Value> op, double alpha, Index tiles) {
  extern __shared__ __align__(16) double shared[];
  double* const a_tile = shared;
  double* const b_tile = shared + kBlockRows * kStride;
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x / 32);
  const int group = lane / 4, in_group = lane % 4;  // as mma.sync numbers lanes
  const auto first_col = static_cast<Index>(blockIdx.x % static_cast<unsigned>(tiles)) * kBlockCols;
  const auto first_row = static_cast<Index>(blockIdx.x / static_cast<unsigned>(tiles)) * kBlockRows;
  const int warp_row = warp / 2 * kWarpRows, warp_col = warp % 2 * kWarpCols;

  double sums[kRowTiles][kColTiles][4] = {};
  const double* const a_of_lane = a_tile + (warp_row + group) * kStride + in_group;
  const double* const b_of_lane = b_tile + in_group * kStride + warp_col + group;
  for (Index first = 0; first < op.b.rows; first += kDepth) {
    __syncthreads();
    fill_tile(op.a, op.spread_a, first_row, kBlockRows, first, a_tile);
    fill_tile(op.b, op.spread, first, kDepth, first_col, b_tile);
    __syncthreads();
#pragma unroll 2
    for (int k = 0; k < kDepth; k += 8) {
      double a[kRowTiles][4], b[kColTiles][2];
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
        const double* const from = a_of_lane + i * 16 * kStride + k;
        a[i][0] = from[0];
        a[i][1] = from[8 * kStride];
        a[i][2] = from[4];
        a[i][3] = from[8 * kStride + 4];
      }
#pragma unroll
      for (int j = 0; j < kColTiles; ++j) {
        b[j][0] = b_of_lane[k * kStride + j * 8];
        b[j][1] = b_of_lane[(k + 4) * kStride + j * 8];
      }
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
        for (int j = 0; j < kColTiles; ++j) multiply_add(sums[i][j], a[i], b[j]);
      }
    }
  }

  const auto* const words = reinterpret_cast<const std::uint32_t*>(op.spread_c.bits.quads_of_rows);
  const Offset quads = op.spread_c.bits.quads;
  const Index quad = first_col / kQuadCols;
#pragma unroll
  for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Offset row = Offset{first_row} + warp_row + i * 16 + half * 8 + group;
      if (row >= op.a.rows || op.is_special[row] != 0) continue;
      const auto* const its_words = words + (row * quads + quad) * 4;
      const int word = (first_col % kQuadCols + warp_col) / 32;
      Offset begin = op.row_offsets[row] + __ldg(op.spread_c.starts + row * (quads + 1) + quad);
#pragma unroll
      for (int before = 0; before < 3; ++before) {
        if (before < word) begin += __popc(__ldg(its_words + before));
      }
      const std::uint32_t bits = __ldg(its_words + word);
#pragma unroll
      for (int j = 0; j < kColTiles; ++j) {
#pragma unroll
        for (int one = 0; one < 2; ++one) {
          const int bit = j * 8 + in_group * 2 + one;
          if ((bits >> bit & 1) == 0) continue;
          const Offset place = begin + __popc(bits & ((1u << bit) - 1));
          op.values[place] = static_cast<Value>(alpha * sums[i][j][half * 2 + one]);
          if (op.col_indices != nullptr) op.col_indices[place] = first_col + warp_col + bit;
        }
      }
    }
  }
}

template <class Value>
__global__ void __launch_bounds__(kThreads) look_for_specials(DeviceCsrView<Value> b, int* found) {
  bool has_any = false;
  for (Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x; at < b.nnz;
       at += Offset{gridDim.x} * kThreads) {
    has_any = has_any || !isfinite(b.values[at]);
  }
  if (has_any) *found = 1;
}

/// A warp a row.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    list_special_rows(DeviceCsrView<Value> a, const int* found_in_b, std::uint8_t* is_special,
                      Index* rows, std::uint32_t* count) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  const Offset number = Offset{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (number >= a.rows) return;  // a whole warp
  const auto row = static_cast<Index>(number);
  bool has_any = *found_in_b != 0;
  if (a.values != nullptr) {
    const Offset end = a.row_end(row);
    for (Offset at = a.row_begin(row) + lane; at < end; at += 32) {
      has_any = has_any || !isfinite(a.values[at]);
    }
  }
  has_any = __any_sync(kAllLanes, has_any);
  if (lane != 0) return;
  is_special[row] = has_any ? 1 : 0;
  if (has_any) rows[atomicAdd(count, 1)] = row;
}

}  // namespace

template <class Value>
void find_special_rows(const DenseTiles<Value>& op, const SpecialRows& special,
                       cudaStream_t stream) {
  CHECK_CUDA(cudaMemsetAsync(special.counts, 0, 2 * sizeof(std::uint32_t), stream));
  auto* const found = reinterpret_cast<int*>(special.counts + 1);
  if (op.b.values != nullptr) {
    constexpr Offset kMost = 1024;
    const Offset blocks = std::min((op.b.nnz + kThreads - 1) / kThreads, kMost);
    look_for_specials<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(op.b, found);
    CHECK_LAUNCH("look_for_specials", stream);
  }
  const auto blocks = checked_cast<unsigned>((Offset{op.a.rows} + 7) / 8, "rows of A");
  list_special_rows<<<blocks, kThreads, 0, stream>>>(op.a, found, special.is_special, special.rows,
                                                     special.counts);
  CHECK_LAUNCH("list_special_rows", stream);
}

template <class Value>
void multiply_dense_tiles(const DenseTiles<Value>& op, double alpha, cudaStream_t stream) {
  const auto tiles = static_cast<Index>((Offset{op.b.cols} + kBlockCols - 1) / kBlockCols);
  const Offset groups = (Offset{op.a.rows} + kBlockRows - 1) / kBlockRows;
  const auto blocks = static_cast<unsigned>(checked_cast<int>(groups * tiles, "tiles of C"));
  CHECK_CUDA(cudaFuncSetAttribute(multiply_tiles<Value>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  multiply_tiles<Value><<<blocks, kThreads, kSharedBytes, stream>>>(op, alpha, tiles);
  CHECK_LAUNCH("multiply_tiles", stream);
}

template void find_special_rows(const DenseTiles<float>&, const SpecialRows&, cudaStream_t);
template void find_special_rows(const DenseTiles<double>&, const SpecialRows&, cudaStream_t);
template void multiply_dense_tiles(const DenseTiles<float>&, double, cudaStream_t);
template void multiply_dense_tiles(const DenseTiles<double>&, double, cudaStream_t);

}  // namespace csrkit::gpu
