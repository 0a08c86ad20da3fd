// half, packed: only the tiles on and below the diagonal are read. Every element is used twice, for
// itself and for its mirror image.
// Owns     a sum per column of every tile, and per row of every run of tiles of a block: 2 / tile
//          of the bytes that are read
// Reads    half of A once; p once per tile, from L2
// Launch   as many blocks as the device holds, each with equally many tiles, in rows of tiles; sums
//          of rows stay in registers until the row of tiles ends. Then a pass adds up all sums in a
//          fixed order: the same bits in every run
// Needs    A symmetric to the bit: the upper half is not read (but in tiles on the diagonal)
// Against  cublas<t>symv, with and without atomics
#include <algorithm>

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"
#include "gpu/solve/dense/product.h"

namespace csrkit::gpu {

namespace {

constexpr int kResidentThreads = 512;  // per multiprocessor: 128 registers each
constexpr int kAddRows = kWarpLanes, kAddGroups = 8;

/// The row of tiles that holds `tile`. The root is rounded, so it is corrected by at most a step.
__device__ Offset row_of_tile(Offset tile) {
  auto row = static_cast<Offset>((sqrt(8.0 * static_cast<double>(tile) + 1) - 1) / 2);
  while (tiles_before(row + 1) <= tile) ++row;
  while (tiles_before(row) > tile) --row;
  return row;
}

__device__ Offset first_tile_of(Offset block, Offset blocks, Offset tiles) {
  return tiles * block / blocks;
}
__device__ Offset block_of_tile(Offset tile, Offset blocks, Offset tiles) {
  return ((tile + 1) * blocks - 1) / tiles;
}

/// Sums of columns go to column_sums[tile], sums of rows to row_sums[block + row of tiles]: from
/// one run of tiles to the next one of the two numbers grows and none shrinks, so no two runs share
/// a place.
template <class T, int kTile, int kThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    multiply_half(SquareView<T> a, const T* __restrict__ p, Index stride, Offset tiles,
                  T* column_sums, T* row_sums) {
  constexpr int kWarps = kThreads / kWarpLanes, kRows = kTile / kWarps;
  constexpr int kWidest = 16 / static_cast<int>(sizeof(T)), kOfLane = kTile / kWarpLanes;
  constexpr int kWidth = kOfLane < kWidest ? kOfLane : kWidest, kPacks = kOfLane / kWidth;
  constexpr int kBatch = kRows < 8 ? kRows : 8;  // rows whose loads are in flight
  using Numbers = Pack<T, kWidth>;
  __shared__ T p_of_rows[kTile];
  __shared__ T sums_of_warps[2][kWarps][kTile];

  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarpLanes;
  const int warp = thread / kWarpLanes;
  const auto p_at = [&](Offset i) { return i < a.rows ? __ldg(p + i * stride) : T{0}; };
  const auto column_of = [&](int pack, int i) { return (pack * kWarpLanes + lane) * kWidth + i; };
  const Offset last = first_tile_of(Offset{blockIdx.x} + 1, gridDim.x, tiles);
  Offset tile = first_tile_of(blockIdx.x, gridDim.x, tiles);
  Offset tile_row = row_of_tile(tile);
  T sums[kRows] = {};
  bool is_new_row = true;
  for (int buffer = 0; tile < last; ++tile, buffer ^= 1) {
    const Offset tile_col = tile - tiles_before(tile_row);
    if (is_new_row) {
      __syncthreads();
      for (int i = thread; i < kTile; i += kThreads) p_of_rows[i] = p_at(tile_row * kTile + i);
      __syncthreads();
    }
    T mine[kPacks][kWidth], columns[kPacks][kWidth] = {};
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) mine[pack][i] = p_at(tile_col * kTile + column_of(pack, i));
    }
    const bool is_packed = a.layout == SquareLayout::packed;
    const Offset pitch = is_packed ? kTile : a.pitch;
    const T* const first =
        a.data + (is_packed ? tile * kTile * kTile : (tile_row * pitch + tile_col) * kTile) +
        warp * kRows * pitch;
#pragma unroll
    for (int batch = 0; batch < kRows; batch += kBatch) {
      Numbers loaded[kBatch][kPacks];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
#pragma unroll
        for (int pack = 0; pack < kPacks; ++pack) {
          loaded[k][pack] =
              *reinterpret_cast<const Numbers*>(first + (batch + k) * pitch + column_of(pack, 0));
        }
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        const T p_of_row = p_of_rows[warp * kRows + batch + k];
#pragma unroll
        for (int pack = 0; pack < kPacks; ++pack) {
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            sums[batch + k] += loaded[k][pack].item[i] * mine[pack][i];
            columns[pack][i] += loaded[k][pack].item[i] * p_of_row;
          }
        }
      }
    }
    if (tile_col < tile_row) {  // a tile on the diagonal holds both halves
#pragma unroll
      for (int pack = 0; pack < kPacks; ++pack) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          sums_of_warps[buffer][warp][column_of(pack, i)] = columns[pack][i];
        }
      }
      __syncthreads();  // two buffers: a faster warp writes to the other one
      for (int i = thread; i < kTile; i += kThreads) {
        T sum = 0;
        for (int w = 0; w < kWarps; ++w) sum += sums_of_warps[buffer][w][i];
        column_sums[tile * kTile + i] = sum;
      }
    }
    is_new_row = tile_col == tile_row;
    if (!is_new_row && tile + 1 < last) continue;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      for (int offset = kWarpLanes / 2; offset > 0; offset /= 2) {
        sums[k] += __shfl_xor_sync(kAllLanes, sums[k], offset);
      }
      if (lane == 0) {
        row_sums[(Offset{blockIdx.x} + tile_row) * kTile + warp * kRows + k] = sums[k];
      }
      sums[k] = 0;
    }
    if (is_new_row) ++tile_row;
  }
}

/// 32 rows a block: kAddGroups warps each add a part of their sums, then one warp adds up the
/// parts.
template <class T>
__global__ void add_up(Index rows, int tile_rows, Offset tiles, Offset blocks, Offset rows_of_tiles,
                       const T* column_sums, const T* row_sums, T* q, Index stride) {
  __shared__ double sums[kAddGroups][kAddRows];
  const int lane = static_cast<int>(threadIdx.x) % kAddRows;
  const int group = static_cast<int>(threadIdx.x) / kAddRows;
  const Offset row = Offset{blockIdx.x} * kAddRows + lane;
  const Offset tile_row = row / tile_rows, place = row % tile_rows;
  double sum = 0;
  for (Offset below = tile_row + 1 + group; below < rows_of_tiles; below += kAddGroups) {
    const Offset tile = tiles_before(below) + tile_row;
    sum += static_cast<double>(column_sums[tile * tile_rows + place]);
  }
  const Offset last = block_of_tile(tiles_before(tile_row + 1) - 1, blocks, tiles);
  Offset block = block_of_tile(tiles_before(tile_row), blocks, tiles) + group;
  for (; block <= last; block += kAddGroups) {
    sum += static_cast<double>(row_sums[(block + tile_row) * tile_rows + place]);
  }
  sums[group][lane] = sum;
  __syncthreads();
  if (group > 0 || row >= rows) return;
  for (int other = 1; other < kAddGroups; ++other) sum += sums[other][lane];
  q[row * stride] = static_cast<T>(sum);
}

template <class T>
class Half : public DenseProduct<T> {
 public:
  explicit Half(const DenseInput<T>& input) : a_(input.a), shape_(input.shape) {
    if (a_.layout == SquareLayout::packed) shape_ = {kSquareTile, 256};
    rows_of_tiles_ = (Offset{a_.rows} + shape_.tile - 1) / shape_.tile;
    tiles_ = tiles_before(rows_of_tiles_);
    int multiprocessors = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                                      input.memory.device()));
    blocks_ =
        std::min<Offset>(tiles_, Offset{multiprocessors} * (kResidentThreads / shape_.threads));
    column_sums_ = DeviceBuffer<T>(input.memory, tiles_ * shape_.tile, "sums of columns");
    row_sums_ =
        DeviceBuffer<T>(input.memory, (blocks_ + rows_of_tiles_) * shape_.tile, "sums of rows");
  }

  void launch(const T* p, T* q, Index stride, cudaStream_t stream) override {
    with_tile_shape(shape_, [&](auto tile, auto threads) {
      multiply_half<T, tile(), threads()><<<static_cast<unsigned>(blocks_), threads(), 0, stream>>>(
          a_, p, stride, tiles_, column_sums_.data(), row_sums_.data());
      CHECK_LAUNCH("multiply_half", stream);
    });
    const unsigned blocks = blocks_of(a_.rows, kAddRows);
    add_up<T><<<blocks, kAddRows * kAddGroups, 0, stream>>>(a_.rows, shape_.tile, tiles_, blocks_,
                                                            rows_of_tiles_, column_sums_.data(),
                                                            row_sums_.data(), q, stride);
    CHECK_LAUNCH("add_up", stream);
  }

 private:
  SquareView<T> a_;
  TileShape shape_;
  Offset rows_of_tiles_ = 0, tiles_ = 0, blocks_ = 0;
  DeviceBuffer<T> column_sums_, row_sums_;
};

}  // namespace

#define CSRKIT_FACTORY(name)                                                           \
  template <class T>                                                                   \
  std::unique_ptr<DenseProduct<T>> make_##name(const DenseInput<T>& input) {           \
    return std::make_unique<Half<T>>(input);                                           \
  }                                                                                    \
  template std::unique_ptr<DenseProduct<float>> make_##name(const DenseInput<float>&); \
  template std::unique_ptr<DenseProduct<double>> make_##name(const DenseInput<double>&);
CSRKIT_FACTORY(half)
CSRKIT_FACTORY(packed)
#undef CSRKIT_FACTORY

}  // namespace csrkit::gpu
