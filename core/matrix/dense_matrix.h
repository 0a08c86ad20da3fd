// Dense operands: row-major, any leading dimension, host or device memory.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>

#include "core/base/buffer.h"
#include "core/base/types.h"
#include "core/base/value_kind.h"
#include "core/matrix/memory_space.h"

namespace csrkit {

/// A borrowed, read-only dense matrix. Element (i, j) is data[i * leading_dim + j];
/// leading_dim >= cols, counted in elements. The kind is never none.
struct ConstDenseView {
  const void* data = nullptr;
  ValueKind kind = ValueKind::f32;
  Index rows = 0;
  Index cols = 0;
  Offset leading_dim = 0;
  MemorySpace space = MemorySpace::host;

  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  /// Element (i, j) as double, for host memory; slow, for references and checks.
  double at(Index i, Index j) const;
};

/// A borrowed, writable dense matrix.
struct DenseView {
  void* data = nullptr;
  ValueKind kind = ValueKind::f32;
  Index rows = 0;
  Index cols = 0;
  Offset leading_dim = 0;
  MemorySpace space = MemorySpace::host;

  operator ConstDenseView() const { return {data, kind, rows, cols, leading_dim, space}; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  void set(Index i, Index j, double value) const;
};

/// A dense matrix in host memory that owns its elements. Contents start undefined.
class DenseMatrix {
 public:
  DenseMatrix() = default;
  /// `leading_dim` 0 means cols.
  DenseMatrix(Index rows, Index cols, ValueKind kind, Offset leading_dim = 0);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  ValueKind kind() const { return values_.kind(); }
  Offset leading_dim() const { return leading_dim_; }
  std::uint64_t size_bytes() const;

  DenseView view() { return {values_.data(), kind(), rows_, cols_, leading_dim_}; }
  ConstDenseView view() const { return {values_.data(), kind(), rows_, cols_, leading_dim_}; }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Offset leading_dim_ = 0;
  ValueArray values_;
};

/// Fills with numbers uniform in [-1, 1), a pure function of (seed, row, column): the same for any
/// thread count or leading dimension. `dense` may be a block, which begins at (first_row,
/// first_col) of a whole matrix. Host memory only.
void fill_random(DenseView dense, std::uint64_t seed, Index first_row = 0, Index first_col = 0);

/// Sets every byte between first and last element of the array to NaN of its kind, padding
/// included.
void fill_nan(DenseView dense);

}  // namespace csrkit
