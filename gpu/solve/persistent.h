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
  /// Queues up to `iterations` iterations; from state.p, r and x on, which are there afterwards.
  virtual void launch(const CgState<T>& state, Index iterations, cudaStream_t stream) = 0;
};

/// For one column and a diagonal M or none. Throws UsageError if the device's registers do not hold
/// the rows.
template <class T>
std::unique_ptr<PersistentLoop<T>> make_sparse_loop(const CsrMatrix& a, DeviceMemory& memory);
/// The same for systems of any size, A as plain CSR. Throws UsageError for a device below compute
/// capability 9.0, and for 2^31 entries.
template <class T>
std::unique_ptr<PersistentLoop<T>> make_streamed_loop(const CsrMatrix& a, DeviceMemory& memory);
/// The same as the first for a dense matrix, full, which must stay. Throws UsageError if shared
/// memory does not hold a vector.
template <class T>
std::unique_ptr<PersistentLoop<T>> make_dense_loop(const SquareView<T>& a, DeviceMemory& memory);

}  // namespace csrkit::gpu
