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

  /// For kernels whose memory, and choosers whose choice, depend on where A has entries: may
  /// allocate and wait. Called once, before analyse, if A has entries.
  virtual void explore(const DeviceCsrView<void>&, DeviceMemory&) {}

  /// Bytes that analyse fills and launch uses; from sizes alone until A is explored.
  virtual std::uint64_t workspace_bytes(const SddmmProblem&) const { return 0; }

  /// Queues everything that depends on A only.
  virtual void analyse(const DeviceCsrView<void>&, void* /*workspace*/, cudaStream_t) {}

  /// For a vendor that wants to see operands before it decides; may allocate and wait. Called at
  /// each bind.
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
