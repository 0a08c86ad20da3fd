// The preconditioners of core/contract/solve.h on the device: z = M^-1 r.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "core/contract/solve.h"
#include "core/solve/chebyshev.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

template <class T>
class DevicePreconditioner {
 public:
  virtual ~DevicePreconditioner() = default;
  /// The factor of every row if M is diagonal. Else null: then apply must be called.
  virtual const T* inverse_diagonal() const { return nullptr; }
  /// Queues z = M^-1 r for all columns; can be captured. Only where inverse_diagonal() is null.
  virtual void apply(const T*, T*, cudaStream_t) {}
};

template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_jacobi(const SolveProblem& problem,
                                                     DeviceMemory& memory);
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_block_jacobi(const SolveProblem& problem,
                                                           DeviceMemory& memory);
/// `product` multiplies with A in T; it must outlive the preconditioner.
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_chebyshev(const SolveProblem& problem,
                                                        const ChebyshevSteps& steps,
                                                        Operator& product, DeviceMemory& memory);

}  // namespace csrkit::gpu
