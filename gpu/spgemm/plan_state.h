// What a plan holds on the device, and how its operands get there; for plan.cpp and plan_multiply.cpp.
#pragma once

#include <memory>

#include "gpu/device/gpu_timer.h"
#include "gpu/device/l2_flush.h"
#include "gpu/device/stream.h"
#include "gpu/spgemm/phase_events.h"
#include "gpu/spgemm/plan.h"

namespace csrkit::gpu {

// Kernels know float, double and no values at all. The detour is exact, and sums of 16-bit values are
// f32 by contract.
inline CsrMatrix widened(const CsrMatrix& matrix) {
  const ValueKind kind = matrix.value_kind();
  const bool is_narrow = kind == ValueKind::f16 || kind == ValueKind::bf16;
  return is_narrow ? convert_values(matrix, ValueKind::f32) : matrix;
}

inline CsrMatrix second_operand(const SpgemmProblem& problem) {
  return widened(problem.transpose_b ? transpose(problem.b) : problem.b);
}

struct GpuSpgemmPlan::State {
  State(int device, const PlanOptions& options)
      : stream(static_cast<cudaStream_t>(options.where.stream)),
        memory(device, stream.get(), options.memory_limit_bytes) {}

  Stream stream;
  DeviceMemory memory;
  GpuTimer timer;
  PhaseEvents events;
  DeviceCsr a, b, mask;  // b stays empty where B is A
  std::unique_ptr<L2Flush> flush;

  // For reuse: C before masks and dropping, of all rows.
  DeviceProduct structure;
  bool has_structure = false;
  bool values_prepared = false;  // the kernel knows the structure
  double structure_seconds = 0;  // that it took to
  std::uint64_t product_peak_bytes = 0, reuse_peak_bytes = 0;
  bool values_are_new = false;  // A's and B's values changed since C was made
};

}  // namespace csrkit::gpu
