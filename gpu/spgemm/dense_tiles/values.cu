// The values of C in dense_tiles: entries of A times dense rows of B in shared memory.
// Owns     a block: 128 rows of C (of about equal length) by 512 bytes of columns; a warp: 16 of
//          the rows, in registers; a lane: 16 bytes of columns of each
// Reads    per block A's rows once, 32 entries at a time, through shared memory to all lanes; B's
//          entries of these columns once, into a tile of up to 208 rows. Per entry of A and tile
//          one load of 16 bytes a lane from shared memory: this bounds the kernel: 4 cycles for 128
//          multiplications in f32
// Launch   256 threads, 107 KiB, so two blocks: one fills its tile while the other multiplies
// Needs    C's columns as bits, where each quad of B's rows begins, rows ordered by length
// Against  sums in shared memory, which are read and written for every product: here they stay in
//          registers, and a product costs a quarter of a load, zeros included. Pays from a density
//          of B of about an eighth. Sums are in the order of A's columns. Where B has no entry, a
//          product with 0 is added, which changes nothing unless the entry of A is NaN or infinite:
//          such entries check B's bits first

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spgemm/dense_tiles/dense_tiles.h"
#include "gpu/spgemm/dense_tiles/tile.cuh"

namespace csrkit::gpu {

using namespace dense_tiles;

namespace {

/// Writes this lane's sums to the entries of a row of C, by its bits. `col` is the lane's first
/// column.
template <class Value>
__device__ void write_row(const DenseTiles<Value>& op, Index row, Index tile, Index col,
                          const Lane<Value>& sums) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(op.spread_c.bits.quads_of_rows +
                                                             Offset{row} * op.spread_c.bits.quads);
  const Index first_word = tile * (kTileCols<Value> / 32), own = col >> 5;
  auto before = static_cast<int>(entries_of_tile<Value>(op.spread_c, row, tile).x);
#pragma unroll
  for (int i = 0; i < kTileCols<Value> / 32; ++i) {
    if (first_word + i < own) before += __popc(__ldg(words + first_word + i));
  }
  std::uint32_t bits = __ldg(words + own);
  before += __popc(bits & ((1u << (col & 31)) - 1));
  bits >>= col & 31;
  Offset place = op.row_offsets[row] + before;
#pragma unroll
  for (int i = 0; i < kOfLane<Value>; ++i) {
    if ((bits >> i & 1) == 0) continue;
    op.values[place] = op.alpha * sums.of[i];
    if (op.col_indices != nullptr) op.col_indices[place] = col + i;
    ++place;
  }
}

template <class Value>
__global__ void __launch_bounds__(TileShape::kThreads, 2)
    make_tiles(DenseTiles<Value> op, Index tiles, int depth) {
  extern __shared__ __align__(16) std::byte tile_bytes[];
  __shared__ Entries<Value> entries_of_warps[kWarps];
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x / 32);
  const auto tile = static_cast<Index>(blockIdx.x % static_cast<unsigned>(tiles));
  const Offset group = blockIdx.x / static_cast<unsigned>(tiles);
  const Offset listed = op.listed == nullptr ? Offset{op.a.rows} : Offset{*op.listed};
  if (group * TileShape::kRowsOfBlock >= listed) return;  // a whole block
  Entries<Value>& entries = entries_of_warps[warp];
  const std::byte* const own_bytes = tile_bytes + lane * 16;
  const Index own_col = tile * kTileCols<Value> + lane * kOfLane<Value>;

  // Lane r has the r-th row of the warp: neighbours in order go to different warps.
  const Offset number = group * TileShape::kRowsOfBlock + lane * kWarps + warp;
  const bool has_row = lane < kRowsOfWarp && number < listed;
  const Index row = has_row ? __ldg(op.order + number) : -1;
  Offset at = has_row ? op.a.row_begin(row) : 0;
  const Offset end = has_row ? op.a.row_end(row) : 0;

  Lane<Value> sums[kRowsOfWarp] = {};
  auto* const quarters = reinterpret_cast<uint4*>(tile_bytes);
  if (threadIdx.x < kRowBytes / 16) {  // the row of zeros after the tile
    quarters[depth * (kRowBytes / 16) + static_cast<int>(threadIdx.x)] = make_uint4(0, 0, 0, 0);
  }
  for (Index first = 0; first < op.b.rows; first += depth) {
    const int rows = min(depth, op.b.rows - first);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < rows * (kRowBytes / 16);
         i += TileShape::kThreads) {
      quarters[i] = make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
    spread_tile(op, first, rows, tile, reinterpret_cast<Value*>(tile_bytes));
    __syncthreads();

    Batch<Value> next =
        load_batch(op.a, __shfl_sync(kAllLanes, at, 0), __shfl_sync(kAllLanes, end, 0), first);
#pragma unroll
    for (int r = 0; r < kRowsOfWarp; ++r) {
      Batch<Value> batch = next;
      if (r + 1 < kRowsOfWarp) {
        next = load_batch(op.a, __shfl_sync(kAllLanes, at, r + 1),
                          __shfl_sync(kAllLanes, end, r + 1), first);
      }
      int taken = 0;
      while (true) {
        const bool is_in = batch.source < rows;
        const int count = __popc(__ballot_sync(kAllLanes, is_in));
        if (count == 0) break;
        entries.offsets[lane] =
            static_cast<std::uint32_t>((is_in ? batch.source : depth) * kRowBytes);
        entries.values[lane] = is_in ? batch.value : Value{0};
        const bool is_plain = __all_sync(kAllLanes, !is_in || isfinite(batch.value));
        __syncwarp();
        if (is_plain) {
          add_entries(entries, count, own_bytes, sums[r]);
        } else {
          add_stored_entries(entries, count, own_bytes, op.spread.bits, first, own_col, sums[r]);
        }
        __syncwarp();
        taken += count;
        if (count < 32) break;
        batch = load_batch(op.a, __shfl_sync(kAllLanes, at, r) + taken,
                           __shfl_sync(kAllLanes, end, r), first);
      }
      if (lane == r) at += taken;
    }
  }
#pragma unroll
  for (int r = 0; r < kRowsOfWarp; ++r) {
    const Index its_row = __shfl_sync(kAllLanes, row, r);
    if (its_row >= 0) write_row(op, its_row, tile, own_col, sums[r]);
  }
}

}  // namespace

template <class Value>
void make_dense_tiles(const DenseTiles<Value>& op, int device, cudaStream_t stream) {
  int most_bytes = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  constexpr int kStatic = kWarps * static_cast<int>(sizeof(Entries<Value>));
  const int depth = std::min(TileShape::kMostDepth, (most_bytes - kStatic) / kRowBytes - 1);
  const int bytes = (depth + 1) * kRowBytes;
  const auto tiles =
      static_cast<Index>((Offset{op.b.cols} + kTileCols<Value> - 1) / kTileCols<Value>);
  const Offset groups = (Offset{op.a.rows} + TileShape::kRowsOfBlock - 1) / TileShape::kRowsOfBlock;
  const auto blocks = checked_cast<int>(groups * tiles, "tiles of C");
  CHECK_CUDA(
      cudaFuncSetAttribute(make_tiles<Value>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  make_tiles<Value><<<static_cast<unsigned>(blocks), TileShape::kThreads,
                      static_cast<std::size_t>(bytes), stream>>>(op, tiles, depth);
  CHECK_LAUNCH("make_tiles", stream);
}

template void make_dense_tiles(const DenseTiles<float>&, int, cudaStream_t);
template void make_dense_tiles(const DenseTiles<double>&, int, cudaStream_t);

}  // namespace csrkit::gpu
