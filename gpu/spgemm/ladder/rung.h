// What is around every classic rung: room for its unsorted output before, the sort after.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/ladder/coo_output.h"

namespace csrkit::gpu {

inline constexpr int kWordBits = 32;  // of the words that say which entries exist

/// `Append::append(a, b, alpha, coo, memory)` queues the rung's kernel.
template <class Append, class Value>
class Rung final : public DeviceSpgemm {
 public:
  std::uint64_t forecast_bytes(const SpgemmSizes& sizes) const override {
    return coo_forecast_bytes(sizes, kValueKindOf<Value>);
  }

  void multiply(const SpgemmOperands& operands, DeviceMemory& memory, DeviceProduct& c,
                PhaseMarks* marks) override {
    if (marks != nullptr) marks->begin(SpgemmPhase::analysis);
    const Offset room = count_products(operands.a, operands.b, memory).output_bound;
    if (marks != nullptr) marks->begin(SpgemmPhase::numeric);
    CooOutput<Value> output(memory, room);
    if (room > 0) {
      Append::append(operands.a.as<Value>(), operands.b.as<Value>(),
                     static_cast<Value>(operands.alpha), output.arrays(), memory);
    }
    if (marks != nullptr) marks->begin(SpgemmPhase::sort);
    output.move_to(memory, c);
  }
};

template <class Append>
std::unique_ptr<DeviceSpgemm> make_rung(const SpgemmProblem& problem) {
  if (problem.c == ValueKind::f64) return std::make_unique<Rung<Append, double>>();
  return std::make_unique<Rung<Append, float>>();
}

}  // namespace csrkit::gpu
