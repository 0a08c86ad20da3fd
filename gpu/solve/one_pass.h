// The vector work of Rung::one_pass: all that lies between two products, in one cooperative kernel.
#pragma once

#include "gpu/solve/vectors.h"

namespace csrkit::gpu {

/// What a block has: rows, and those of them whose q, or p, lies in shared memory.
struct OnePassShares {
  Index own_rows = 0, q_rows = 0, p_rows = 0;
};

/// For one column and a diagonal M or none.
template <class T>
class OnePass {
 public:
  OnePass(Index rows, int device);
  /// After q = A p: everything up to the next p. Queued; can be captured.
  void launch(const CgState<T>& state, cudaStream_t stream) const;

 private:
  int blocks_ = 1;
  OnePassShares shares_;
};

}  // namespace csrkit::gpu
