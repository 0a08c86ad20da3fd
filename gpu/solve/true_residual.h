// b - A x in float64 on the device, for all kinds of A, b and x.
#pragma once

#include <cuda_runtime.h>

#include "core/contract/solve.h"
#include "gpu/device/device_csr.h"
#include "gpu/solve/dense/matrix.h"

namespace csrkit::gpu {

/// The system's matrix in the caller's kind, for residuals.
class ResidualMatrix {
 public:
  /// `layout` is that of a dense matrix. Waits. Throws MemoryError.
  ResidualMatrix(const SolveProblem& problem, SquareLayout layout, DeviceMemory& memory);

  /// The dense matrix, in its own kind.
  const DeviceSquare& square() const { return square_; }

  /// wide = b - A x for row-major arrays without padding. X is the type of b and x. Queued.
  template <class X>
  void launch(const X* b, const X* x, double* wide, cudaStream_t stream) const;

 private:
  Index rows_, columns_;
  ValueKind kind_;
  bool is_dense_;
  DeviceCsr sparse_;
  DeviceSquare square_;
};

/// to = from / scales[column], or from where `scales` is null. Queued.
template <class T>
void launch_narrow(Index rows, Index columns, const double* from, const double* scales, T* to,
                   cudaStream_t stream);

/// x += scales[column] * correction. Queued.
void launch_correct(Index rows, Index columns, const double* scales, const float* correction,
                    double* x, cudaStream_t stream);

/// Numbers per column that launch_squares needs.
inline constexpr Index kSquareSums = 257;

/// Writes the columns' sums of squares to sums[0 ... columns - 1]. `sums` has columns * kSquareSums
/// numbers; the rest is workspace. Queued.
template <class T>
void launch_squares(Index rows, Index columns, const T* vectors, double* sums, cudaStream_t stream);

}  // namespace csrkit::gpu
