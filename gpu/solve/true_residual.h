// b - A x in float64 on the device, whatever the kinds.
#pragma once

#include <cuda_runtime.h>

#include "core/contract/solve.h"
#include "gpu/device/device_csr.h"
#include "gpu/solve/dense/matrix.h"

namespace csrkit::gpu {

/// The system's matrix as the caller gave it, for residuals.
class ResidualMatrix {
 public:
  /// `layout` is that of a dense matrix.
  ResidualMatrix(const SolveProblem& problem, SquareLayout layout, DeviceMemory& memory);

  /// The dense matrix, in its own kind.
  const DeviceSquare& square() const { return square_; }

  /// wide = b - A x for row-major arrays without gaps. X is the kind of b and x. Queued.
  template <class X>
  void launch(const X* b, const X* x, double* wide, cudaStream_t stream) const;

 private:
  Index rows_, columns_;
  ValueKind kind_;
  bool is_dense_;
  DeviceCsr sparse_;
  DeviceSquare square_;
};

/// to = from / scales[column]; scales null: 1. Queued.
template <class T>
void launch_narrow(Index rows, Index columns, const double* from, const double* scales, T* to,
                   cudaStream_t stream);

/// x += scales[column] * correction. Queued.
void launch_correct(Index rows, Index columns, const double* scales, const float* correction,
                    double* x, cudaStream_t stream);

/// Numbers per column that launch_squares needs.
inline constexpr Index kSquareSums = 257;

/// The sums of squares of the columns, to the first `columns` of columns * kSquareSums numbers, the
/// others being workspace. Queued.
template <class T>
void launch_squares(Index rows, Index columns, const T* vectors, double* sums, cudaStream_t stream);

}  // namespace csrkit::gpu
