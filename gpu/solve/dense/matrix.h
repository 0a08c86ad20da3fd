// A dense symmetric matrix in device memory, padded with zeros so that tiles need no checks.
#pragma once

#include <cuda_runtime.h>

#include "core/matrix/dense_matrix.h"
#include "gpu/device/device_buffer.h"
#include "gpu/solve/column.h"

namespace csrkit::gpu {

/// Rows and columns are padded to a multiple of it. It is also the size of packed tiles.
inline constexpr Index kSquareTile = 128;

/// full: row i begins at i * pitch. packed: the tiles on and below the diagonal, in rows of tiles,
/// each tile contiguous; tiles on the diagonal hold both halves.
enum class SquareLayout { full, packed };

/// Tiles of the lower triangle before its row of tiles `row`.
CSRKIT_HOST_DEVICE inline Offset tiles_before(Offset row) { return row * (row + 1) / 2; }

/// Plain data, passed to kernels by value.
template <class T>
struct SquareView {
  const T* data = nullptr;
  Index rows = 0;
  Offset pitch = 0;  // full: the padded number of rows
  SquareLayout layout = SquareLayout::full;

  /// One element; slow where packed.
  CSRKIT_HOST_DEVICE T at(Offset i, Offset j) const {
    if (layout == SquareLayout::full) return data[i * pitch + j];
    const Offset row = i > j ? i : j, col = i > j ? j : i;
    const Offset tile = tiles_before(row / kSquareTile) + col / kSquareTile;
    return data[(tile * kSquareTile + row % kSquareTile) * kSquareTile + col % kSquareTile];
  }
};

class DeviceSquare {
 public:
  DeviceSquare() = default;
  /// A copy of `a` (f32 or f64, on the host), converted to `kind`. Waits. Throws MemoryError.
  DeviceSquare(DeviceMemory& memory, const DenseMatrix& a, ValueKind kind, SquareLayout layout);

  ValueKind kind() const { return kind_; }
  SquareLayout layout() const { return layout_; }
  Index rows() const { return rows_; }
  template <class T>
  SquareView<T> view() const {
    return {reinterpret_cast<const T*>(data_.data()), rows_, pitch_, layout_};
  }

 private:
  ValueKind kind_ = ValueKind::f32;
  SquareLayout layout_ = SquareLayout::full;
  Index rows_ = 0;
  Offset pitch_ = 0;
  DeviceBuffer<std::byte> data_;
};

}  // namespace csrkit::gpu
