// A plan's state on the device, and the conversion of its operands; for plan.cpp and
// plan_multiply.cpp.
#pragma once

#include "gpu/plan/resources.h"
#include "gpu/spgemm/device_spgemm.h"
#include "gpu/spgemm/phase_events.h"

namespace csrkit::gpu {

// Kernels know only float, double and matrices without values. Widening is exact, and sums of
// 16-bit values are f32 by contract.
inline CsrMatrix widened(const CsrMatrix& matrix, int threads) {
  const ValueKind kind = matrix.value_kind();
  const bool is_narrow = kind == ValueKind::f16 || kind == ValueKind::bf16;
  return is_narrow ? convert_values(matrix, ValueKind::f32, threads) : matrix;
}

inline CsrMatrix second_operand(const SpgemmProblem& problem, int threads) {
  return widened(problem.transpose_b ? transpose(problem.b, threads) : problem.b, threads);
}

struct SpgemmPlanState : PlanResources {
  using PlanResources::PlanResources;

  PhaseEvents events;
  DeviceCsr a, b, mask;  // b stays empty where B is A

  // For reuse: C before masks and dropping, of all rows.
  DeviceProduct structure;
  bool has_structure = false;
  bool values_prepared = false;  // kernel_->prepare_values has run
  double structure_seconds = 0;  // that it took
  std::uint64_t product_peak_bytes = 0, reuse_peak_bytes = 0;
  bool values_are_new = false;  // A's and B's values have changed since C was made
};

}  // namespace csrkit::gpu
