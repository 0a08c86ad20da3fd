// Plans on a device that can change their stream. Training, for example, warms up in one stream, is
// captured in a second, and is replayed in a third.
#pragma once

#include "core/base/error.h"
#include "core/contract/plan.h"

namespace csrkit {

class TakesStream {
 public:
  virtual ~TakesStream() = default;

  /// Queues further work in `stream` (a cudaStream_t of the plan's device, which must outlive its
  /// use here), after all work that the plan has queued so far. If one of the two streams is being
  /// captured for a graph, nothing orders them: the caller must wait before a capture begins.
  /// Operands on the host bring the plan back to the stream that it was made with.
  virtual void use_stream(void* stream) = 0;
};

/// Throws UsageError for a plan that works in no stream.
inline void use_stream(Plan& plan, void* stream) {
  auto* const takes = dynamic_cast<TakesStream*>(&plan);
  if (takes == nullptr) throw UsageError("the plan works on a CPU, where there are no streams");
  if (stream == nullptr) {
    throw UsageError("the stream is NULL; the legacy default stream is cudaStreamLegacy");
  }
  takes->use_stream(stream);
}

}  // namespace csrkit
