// The vector work of Rung::one_pass: all that lies between two products, in one cooperative kernel.
#pragma once

#include "gpu/solve/vectors.h"

namespace csrkit::gpu {

/// For one column and a diagonal M or none.
template <class T>
class OnePass {
 public:
  OnePass(Index rows, int device);
  /// After q = A p: everything up to the next p. Queued; can be captured.
  void launch(const CgState<T>& state, cudaStream_t stream) const;

 private:
  int blocks_ = 1;
  Index own_rows_ = 0, held_rows_ = 0;  // the most of a block; those of them in shared memory
};

}  // namespace csrkit::gpu
