// The common base of kernels that are templates of the operands' type.
#pragma once

#include <memory>
#include <utility>

#include "gpu/sddmm/entry.cuh"
#include "gpu/sddmm/plan.h"

namespace csrkit::gpu::sddmm {

class TypedSddmm : public DeviceSddmm {
 protected:
  explicit TypedSddmm(const SddmmProblem& problem)
      : a_kind_(problem.multiplies_by_a ? problem.a.value_kind() : ValueKind::none) {}

  Ends ends_of(const DeviceCsrView<void>& a, const DeviceCall& call) const {
    return {a_kind_, a.values, call.c.kind, call.c.data, call.alpha, call.beta};
  }

 private:
  ValueKind a_kind_;
};

/// Instantiates Kernel for the type of X and Y.
template <template <class> class Kernel, class... Arguments>
std::unique_ptr<DeviceSddmm> make_typed(const SddmmProblem& problem, Arguments&&... arguments) {
  switch (problem.x) {
    case ValueKind::f64:
      return std::make_unique<Kernel<double>>(problem, std::forward<Arguments>(arguments)...);
    case ValueKind::f16:
      return std::make_unique<Kernel<f16>>(problem, std::forward<Arguments>(arguments)...);
    case ValueKind::bf16:
      return std::make_unique<Kernel<bf16>>(problem, std::forward<Arguments>(arguments)...);
    default: return std::make_unique<Kernel<float>>(problem, std::forward<Arguments>(arguments)...);
  }
}

}  // namespace csrkit::gpu::sddmm
