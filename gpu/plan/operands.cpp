#include "gpu/plan/operands.h"

#include <string>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

namespace {

void require_known_address(const char* name, const void* data) {
  cudaPointerAttributes attributes = {};
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, data));
  if (attributes.type == cudaMemoryTypeUnregistered || attributes.devicePointer == nullptr) {
    throw UsageError(std::string(name) +
                     " is said to be in device memory, but no device knows its "
                     "address; give it as host memory");
  }
}

}  // namespace

void require_device_address(const char* name, const ConstDenseView& view) {
  if (view.rows > 0 && view.cols > 0) require_known_address(name, view.data);
}

void require_device_addresses(const CsrMatrix& a) {
  require_known_address("A's row offsets", a.row_offsets());
  if (a.nnz() == 0) return;
  require_known_address("A's columns", a.col_indices());
  if (a.value_kind() != ValueKind::none) require_known_address("A's values", a.values());
}

std::uint64_t dense_bytes(Index rows, Index cols, ValueKind kind) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
         static_cast<std::uint64_t>(size_of(kind));
}

}  // namespace csrkit::gpu
