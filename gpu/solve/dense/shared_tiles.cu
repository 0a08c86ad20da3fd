// shared_tiles, split_atomic, split_two_pass: a block computes as many elements of q as a tile has
// rows, tile by tile.
// Owns     split_two_pass: a sum per row and piece
// Reads    all of A, each warp whole stretches of rows; p once per block, into shared memory
// Launch   a block per row of tiles, or per piece of one: small matrices have too few rows of tiles
//          to occupy the device
// Against  transposed. split_atomic adds the pieces up by atomics, in another order in every run;
//          split_two_pass by a second kernel
#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"
#include "gpu/solve/dense/product.h"

namespace csrkit::gpu {

namespace {

enum class Ending { direct, atomic, second_pass };

constexpr int kAddThreads = 256;
constexpr Index kPieces = 8;  // of a row of tiles

template <class T, int kTile, int kThreads>
__global__ void __launch_bounds__(kThreads)
    multiply_tiles(SquareView<T> a, const T* p, Index stride, Ending ending, T* to) {
  constexpr int kRows = kTile / (kThreads / kWarpLanes);  // of a warp
  __shared__ T tile_of_p[kTile];
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const Offset first_row =
      Offset{blockIdx.x} * kTile + static_cast<int>(threadIdx.x) / kWarpLanes * kRows;
  const Offset tiles = (Offset{a.rows} + kTile - 1) / kTile;
  const Offset last = tiles * (blockIdx.y + 1) / gridDim.y;
  T sums[kRows] = {};
  for (Offset tile = tiles * blockIdx.y / gridDim.y; tile < last; ++tile) {
    __syncthreads();  // the last tile's p has been read
    for (int i = static_cast<int>(threadIdx.x); i < kTile; i += kThreads) {
      const Offset col = tile * kTile + i;
      tile_of_p[i] = col < a.rows ? p[col * stride] : T{0};
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const T* const row = a.data + (first_row + k) * a.pitch + tile * kTile;
#pragma unroll
      for (int i = 0; i < kTile; i += kWarpLanes) {
        sums[k] += __ldg(row + i + lane) * tile_of_p[i + lane];
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    T sum = sums[k];
    for (int offset = kWarpLanes / 2; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(kAllLanes, sum, offset);
    }
    const Offset row = first_row + k;
    if (lane != 0 || row >= a.rows) continue;
    switch (ending) {
      case Ending::direct: to[row * stride] = sum; break;
      case Ending::atomic: atomicAdd(to + row * stride, sum); break;
      case Ending::second_pass: to[Offset{blockIdx.y} * a.rows + row] = sum; break;
    }
  }
}

template <class T>
__global__ void clear(Index rows, Index stride, T* q) {
  const Offset row = Offset{blockIdx.x} * kAddThreads + threadIdx.x;
  if (row < rows) q[row * stride] = 0;
}

template <class T>
__global__ void add_pieces(Index rows, Index pieces, const T* sums, Index stride, T* q) {
  const Offset row = Offset{blockIdx.x} * kAddThreads + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (Index piece = 0; piece < pieces; ++piece) sum += sums[Offset{piece} * rows + row];
  q[row * stride] = sum;
}

template <class T>
class Tiles : public DenseProduct<T> {
 public:
  Tiles(const DenseInput<T>& input, Ending ending)
      : a_(input.a), shape_(input.shape), ending_(ending) {
    tiles_ = (a_.rows + shape_.tile - 1) / shape_.tile;
    pieces_ = ending == Ending::direct ? 1 : std::min(kPieces, std::max<Index>(1, tiles_));
    if (ending != Ending::second_pass) return;
    sums_ = DeviceBuffer<T>(input.memory, Offset{pieces_} * a_.rows, "sums of pieces");
  }

  void launch(const T* p, T* q, Index stride, cudaStream_t stream) override {
    const unsigned blocks = blocks_of(a_.rows, kAddThreads);
    if (ending_ == Ending::atomic) {
      clear<T><<<blocks, kAddThreads, 0, stream>>>(a_.rows, stride, q);
      CHECK_LAUNCH("clear", stream);
    }
    T* const to = ending_ == Ending::second_pass ? sums_.data() : q;
    with_tile_shape(shape_, [&](auto tile, auto threads) {
      const dim3 grid(static_cast<unsigned>(tiles_), static_cast<unsigned>(pieces_));
      multiply_tiles<T, tile(), threads()>
          <<<grid, threads(), 0, stream>>>(a_, p, stride, ending_, to);
      CHECK_LAUNCH("multiply_tiles", stream);
    });
    if (ending_ != Ending::second_pass) return;
    add_pieces<T><<<blocks, kAddThreads, 0, stream>>>(a_.rows, pieces_, sums_.data(), stride, q);
    CHECK_LAUNCH("add_pieces", stream);
  }

 private:
  SquareView<T> a_;
  TileShape shape_;
  Ending ending_;
  Index tiles_ = 0, pieces_ = 1;
  DeviceBuffer<T> sums_;
};

}  // namespace

#define CSRKIT_FACTORY(name, ending)                                                   \
  template <class T>                                                                   \
  std::unique_ptr<DenseProduct<T>> make_##name(const DenseInput<T>& input) {           \
    return std::make_unique<Tiles<T>>(input, Ending::ending);                          \
  }                                                                                    \
  template std::unique_ptr<DenseProduct<float>> make_##name(const DenseInput<float>&); \
  template std::unique_ptr<DenseProduct<double>> make_##name(const DenseInput<double>&);
CSRKIT_FACTORY(shared_tiles, direct)
CSRKIT_FACTORY(split_atomic, atomic)
CSRKIT_FACTORY(split_two_pass, second_pass)
#undef CSRKIT_FACTORY

}  // namespace csrkit::gpu
