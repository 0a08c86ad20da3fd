// The interface of products with a dense symmetric matrix, and what they are made from.
#pragma once

#include <memory>
#include <string>

#include "gpu/solve/dense/matrix.h"

namespace csrkit::gpu {

/// Rows and columns of the tiles that a block works on, and its threads.
struct TileShape {
  int tile = 0, threads = 0;
};

template <class T>
struct DenseInput {
  SquareView<T> a;
  TileShape shape;  // one of kTileShapes; ignored by products without tiles
  DeviceMemory& memory;
};

template <class T>
class DenseProduct {
 public:
  virtual ~DenseProduct() = default;
  /// Queues q = A p. Elements of p and q are `stride` apart. Can be captured.
  virtual void launch(const T* p, T* q, Index stride, cudaStream_t stream) = 0;
};

/// Every compiled shape. A warp has at most 16 rows of a tile.
inline constexpr TileShape kTileShapes[] = {{32, 128}, {32, 256},  {64, 128},
                                            {64, 256}, {128, 256}, {128, 512}};

/// Calls f(tile, threads), both std::integral_constant, for the shape.
template <class F>
void with_tile_shape(TileShape shape, F&& f) {
  const auto is = [&](int tile, int threads) {
    return shape.tile == tile && shape.threads == threads;
  };
  using std::integral_constant;
  if (is(32, 128)) return f(integral_constant<int, 32>{}, integral_constant<int, 128>{});
  if (is(32, 256)) return f(integral_constant<int, 32>{}, integral_constant<int, 256>{});
  if (is(64, 128)) return f(integral_constant<int, 64>{}, integral_constant<int, 128>{});
  if (is(64, 256)) return f(integral_constant<int, 64>{}, integral_constant<int, 256>{});
  if (is(128, 256)) return f(integral_constant<int, 128>{}, integral_constant<int, 256>{});
  if (is(128, 512)) return f(integral_constant<int, 128>{}, integral_constant<int, 512>{});
}

}  // namespace csrkit::gpu
