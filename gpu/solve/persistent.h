// The loop of Rung::persistent: all iterations in one cooperative kernel, with a product of its
// own.
#pragma once

#include <memory>

#include "gpu/device/device_csr.h"
#include "gpu/solve/dense/matrix.h"
#include "gpu/solve/vectors.h"

namespace csrkit::gpu {

template <class T>
class PersistentLoop {
 public:
  virtual ~PersistentLoop() = default;
  /// Queues up to `iterations` iterations. They start from state.p, r and x, and leave the last
  /// ones there.
  virtual void launch(const CgState<T>& state, Index iterations, cudaStream_t stream) = 0;
};

/// For one column and a diagonal preconditioner M or none. Throws UsageError if the device's shared
/// memory does not hold the vectors.
template <class T>
std::unique_ptr<PersistentLoop<T>> make_sparse_loop(const CsrMatrix& a, DeviceMemory& memory);
/// The same for systems of any size; A is streamed as plain CSR. Throws UsageError below compute
/// capability 9.0, and for about 2^31 entries and more.
template <class T>
std::unique_ptr<PersistentLoop<T>> make_streamed_loop(const CsrMatrix& a, DeviceMemory& memory);
/// As make_sparse_loop for a dense matrix in the layout `full`, which must outlive the loop. Throws
/// UsageError if the shared memory of a multiprocessor does not hold three vectors.
template <class T>
std::unique_ptr<PersistentLoop<T>> make_dense_loop(const SquareView<T>& a, DeviceMemory& memory);

}  // namespace csrkit::gpu
