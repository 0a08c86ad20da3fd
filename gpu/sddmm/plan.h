// The plan of every SDDMM kernel on a GPU: the adapter between core/contract/sddmm.h and work on
// operands that are on the device already. A kernel file offers one factory,
//
//   std::unique_ptr<DeviceSddmm> make_device_<name>(const SddmmProblem& problem);
//
// and becomes a row of kernels.inc.
#pragma once

#include <memory>
#include <string>

#include "core/contract/sddmm.h"
#include "gpu/device/device_csr.h"
#include "gpu/plan/operands.h"
#include "gpu/plan/resources.h"

namespace csrkit::gpu::sddmm {

/// The operands of one multiplication, in device memory.
struct DeviceCall {
  ConstDenseView x, y;
  ValuesView c;
  double alpha, beta;
};

/// A kernel. `a` has values only if the problem multiplies by them.
class DeviceSddmm {
 public:
  virtual ~DeviceSddmm() = default;

  /// For kernels whose memory depends on A's structure, and for choosers whose choice does. May
  /// allocate and wait. Called once, before analyse, if A has entries.
  virtual void explore(const DeviceCsrView<void>&, DeviceMemory&) {}

  /// Bytes of workspace that analyse fills and launch uses. Before explore, a bound from sizes
  /// alone.
  virtual std::uint64_t workspace_bytes(const SddmmProblem&) const { return 0; }

  /// Queues everything that depends only on A.
  virtual void analyse(const DeviceCsrView<void>&, void* /*workspace*/, cudaStream_t) {}

  /// For vendor kernels that decide after they have seen the operands. May allocate and wait.
  /// Called by every bind.
  virtual void prepare(const DeviceCsrView<void>&, const DeviceCall&, DeviceMemory&) {}

  /// Queues C = alpha * S * (X Y^T) + beta * C at A's positions; A has entries.
  virtual void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void* workspace,
                      cudaStream_t stream) = 0;

  virtual std::string choice() const { return {}; }
  virtual std::string chosen_kernel() const { return {}; }  // as in Plan
};

using DeviceFactory = std::unique_ptr<DeviceSddmm> (*)(const SddmmProblem&);

/// `capabilities` are those of the kernel's row. Throws NoDeviceError, MemoryError.
std::unique_ptr<SddmmPlan> make_plan(const SddmmProblem& problem, const PlanOptions& options,
                                     Capabilities capabilities, DeviceFactory make);

}  // namespace csrkit::gpu::sddmm
