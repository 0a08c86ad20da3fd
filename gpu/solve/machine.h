// A system on the device, between two runs of iterations.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/solve/cg_driver.h"
#include "gpu/device/device_buffer.h"
#include "gpu/solve/iterations.h"

namespace csrkit::gpu {

/// b and x in device memory, and the way from one run of iterations to the next. Without regard to
/// kinds.
class Machine : public CgMachine {
 public:
  virtual std::pair<double, double> spectrum() const = 0;
  virtual std::string product_choice() const = 0;
  virtual void* b() = 0;
  virtual void* x() = 0;
};

/// In the problem's precision. `options` are as in make_product, for dense systems with a name of
/// dense/products.inc; problem and memory must stay.
std::unique_ptr<Machine> make_machine(const SolveProblem& problem, const PlanOptions& options,
                                      Rung rung, DeviceMemory& memory);

}  // namespace csrkit::gpu
