// Times the phases of one product, with an event where each begins.
#pragma once

#include <array>

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

class PhaseEvents final : public PhaseMarks {
 public:
  PhaseEvents();
  ~PhaseEvents() override;
  PhaseEvents(const PhaseEvents&) = delete;
  PhaseEvents& operator=(const PhaseEvents&) = delete;

  /// Time before the first `begin` counts as numeric.
  void start(cudaStream_t stream);
  void begin(SpgemmPhase phase) override;
  void stop();

  /// Waits for the work between start and stop, and adds its seconds to the phases.
  void add_to(SpgemmPhases& phases);

 private:
  static constexpr int kMost = 16;  // later phases count as the last one
  std::array<cudaEvent_t, kMost + 1> events_ = {};
  std::array<SpgemmPhase, kMost> phases_ = {};
  int count_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace csrkit::gpu
