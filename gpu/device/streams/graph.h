// Queued work as a CUDA graph.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

/// Work captured in a stream of higher priority keeps it, whatever stream the graph runs in.
inline constexpr unsigned long long kKeepsPriorities = cudaGraphInstantiateFlagUseNodePriority;

/// Owns an instantiated graph; empty at first.
class Graph {
 public:
  Graph() = default;
  ~Graph() { reset(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Records what queue() queues in `stream`; work that it forks to other streams must join
  /// `stream` again. `flags` are those of cudaGraphInstantiate. Throws what queue() throws, and
  /// DeviceError; the stream is then no longer captured.
  template <class Queue>
  void capture(cudaStream_t stream, const Queue& queue, unsigned long long flags = 0) {
    cudaGraph_t recorded = nullptr;
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    try {
      queue();
    } catch (...) {
      CHECK_CUDA_NOEXCEPT(cudaStreamEndCapture(stream, &recorded));
      if (recorded != nullptr) CHECK_CUDA_NOEXCEPT(cudaGraphDestroy(recorded));
      throw;
    }
    CHECK_CUDA(cudaStreamEndCapture(stream, &recorded));
    reset();
    const cudaError_t status = cudaGraphInstantiate(&graph_, recorded, flags);
    CHECK_CUDA_NOEXCEPT(cudaGraphDestroy(recorded));
    CHECK_CUDA(status);
  }

  bool is_there() const { return graph_ != nullptr; }
  void launch(cudaStream_t stream) const { CHECK_CUDA(cudaGraphLaunch(graph_, stream)); }
  /// Does not wait: CUDA keeps a running graph until it has ended.
  void reset() noexcept {
    if (graph_ != nullptr) CHECK_CUDA_NOEXCEPT(cudaGraphExecDestroy(graph_));
    graph_ = nullptr;
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace csrkit::gpu
