#include "gpu/spgemm/phase_events.h"

namespace csrkit::gpu {

PhaseEvents::PhaseEvents() {
  for (cudaEvent_t& event : events_) {
    const cudaError_t status = cudaEventCreate(&event);
    if (status == cudaSuccess) continue;
    for (cudaEvent_t made : events_) {
      if (made != nullptr) CHECK_CUDA_NOEXCEPT(cudaEventDestroy(made));
    }
    CHECK_CUDA(status);
  }
}

PhaseEvents::~PhaseEvents() {
  for (cudaEvent_t event : events_) CHECK_CUDA_NOEXCEPT(cudaEventDestroy(event));
}

void PhaseEvents::start(cudaStream_t stream) {
  stream_ = stream;
  count_ = 0;
  begin(SpgemmPhase::numeric);
}

void PhaseEvents::begin(SpgemmPhase phase) {
  if (count_ == kMost) return;
  CHECK_CUDA(cudaEventRecord(events_[static_cast<std::size_t>(count_)], stream_));
  phases_[static_cast<std::size_t>(count_++)] = phase;
}

void PhaseEvents::stop() {
  CHECK_CUDA(cudaEventRecord(events_[static_cast<std::size_t>(count_)], stream_));
}

void PhaseEvents::add_to(SpgemmPhases& phases) {
  CHECK_CUDA(cudaEventSynchronize(events_[static_cast<std::size_t>(count_)]));
  for (int i = 0; i < count_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    float milliseconds = 0;
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, events_[at], events_[at + 1]));
    const double seconds = milliseconds * 1e-3;
    switch (phases_[at]) {
      case SpgemmPhase::analysis: phases.analysis_seconds += seconds; break;
      case SpgemmPhase::symbolic: phases.symbolic_seconds += seconds; break;
      case SpgemmPhase::numeric: phases.numeric_seconds += seconds; break;
      case SpgemmPhase::sort: phases.sort_seconds += seconds; break;
    }
  }
}

}  // namespace csrkit::gpu
