// A system on the device: what core/solve/cg_driver drives.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/solve/cg_driver.h"
#include "gpu/device/device_buffer.h"
#include "gpu/solve/iterations.h"

namespace csrkit::gpu {

/// b and x in device memory, and the steps between two runs of iterations; the same for all kinds.
class Machine : public CgMachine {
 public:
  virtual std::pair<double, double> spectrum() const = 0;
  virtual std::string product_choice() const = 0;
  virtual void* b() = 0;
  virtual void* x() = 0;
};

/// A machine in the problem's precision. options.variant is as in make_product; for dense systems
/// it is a name of dense/products.inc. `problem` and `memory` must outlive it. Throws UsageError,
/// MemoryError.
std::unique_ptr<Machine> make_machine(const SolveProblem& problem, const PlanOptions& options,
                                      Rung rung, DeviceMemory& memory);

}  // namespace csrkit::gpu
