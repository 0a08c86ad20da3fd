// The vector work of Rung::one_pass: everything between two products, in one cooperative kernel.
#pragma once

#include "gpu/solve/vectors.h"

namespace csrkit::gpu {

/// Rows of a block, and how many of them have q, and p, in shared memory.
struct OnePassShares {
  Index own_rows = 0, q_rows = 0, p_rows = 0;
};

/// For one column and a diagonal preconditioner M or none.
template <class T>
class OnePass {
 public:
  OnePass(Index rows, int device);
  /// Everything from q = A p to the next p. Queued; can be captured.
  void launch(const CgState<T>& state, cudaStream_t stream) const;

 private:
  int blocks_ = 1;
  OnePassShares shares_;
};

}  // namespace csrkit::gpu
