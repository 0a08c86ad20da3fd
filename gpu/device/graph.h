// Work of several GPUs as one CUDA graph.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

class Graph {
 public:
  Graph() = default;
  ~Graph() { reset(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// What `queue` queues: it begins in `stream`, and comes back there from others.
  template <class Queue>
  void capture(cudaStream_t stream, const Queue& queue) {
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
    // What was captured in an urgent stream stays urgent, whatever stream the graph runs in.
    const cudaError_t status =
        cudaGraphInstantiate(&graph_, recorded, cudaGraphInstantiateFlagUseNodePriority);
    CHECK_CUDA_NOEXCEPT(cudaGraphDestroy(recorded));
    CHECK_CUDA(status);
  }

  bool is_there() const { return graph_ != nullptr; }
  void launch(cudaStream_t stream) const { CHECK_CUDA(cudaGraphLaunch(graph_, stream)); }
  /// One that runs goes when it has ended: nobody waits.
  void reset() noexcept {
    if (graph_ != nullptr) CHECK_CUDA_NOEXCEPT(cudaGraphExecDestroy(graph_));
    graph_ = nullptr;
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace csrkit::gpu
