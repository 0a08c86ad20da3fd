#include "gpu/spgemm/adaptive_rows/one_pass.h"

#include <utility>

#include "gpu/device/cuda_check.h"
#include "gpu/device/page_locked_cells.h"
#include "gpu/spgemm/small_product/small_product.h"

namespace csrkit::gpu {

bool OnePass::may_be_enough(const SpgemmOperands& op, const BinRules& rules) const {
  return !was_too_big_ && rules.is_small(op.a.rows, op.b.cols, op.a.nnz, op.a.cols, op.b.nnz);
}

template <class Value>
bool OnePass::make(const SpgemmOperands& op, Semiring semiring, DeviceMemory& memory,
                   DeviceProduct& c) {
  DeviceProduct made;
  made.rows = c.rows;
  made.cols = c.cols;
  made.kind = c.kind;
  static_assert(sizeof(SmallResult) <= PageLockedCells::kBytes, "a cell holds it");
  // Lost if what follows throws, as a kernel may still write to it.
  auto* const cell = static_cast<SmallResult*>(PageLockedCells::take());
  make_small_product<Value>(op, semiring, memory, made, cell);
  CHECK_CUDA(cudaStreamSynchronize(memory.stream()));
  const SmallResult result = *cell;
  PageLockedCells::give_back(cell);
  was_too_big_ = result.is_too_big != 0;
  if (was_too_big_) return false;
  made.nnz = static_cast<Offset>(result.nnz);
  c = std::move(made);
  return true;
}

template bool OnePass::make<float>(const SpgemmOperands&, Semiring, DeviceMemory&, DeviceProduct&);
template bool OnePass::make<double>(const SpgemmOperands&, Semiring, DeviceMemory&, DeviceProduct&);

}  // namespace csrkit::gpu
