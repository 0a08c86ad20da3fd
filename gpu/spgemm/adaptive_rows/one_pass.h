// Products that are small enough to be made in one pass, by the whole device.
#pragma once

#include "gpu/spgemm/adaptive_rows/rules/rules.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

class OnePass {
 public:
  /// Whether trying is worth its time.
  bool may_be_enough(const SpgemmOperands& op, const BinRules& rules) const;

  /// Waits for the device. Returns false, with C unchanged, if the product was too large for one
  /// pass. It is then never tried again: the plan's matrices keep their structure.
  template <class Value>
  bool make(const SpgemmOperands& op, Semiring semiring, DeviceMemory& memory, DeviceProduct& c);

 private:
  bool was_too_big_ = false;
};

}  // namespace csrkit::gpu
