// Operands of a plan: device addresses are checked, host operands get a copy on the device.
#pragma once

#include "core/matrix/csr_matrix.h"
#include "core/matrix/dense_matrix.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// Throws UsageError if an operand is said to be in device memory but no device knows its address.
/// A kernel that used it would destroy the CUDA context.
void require_device_address(const char* name, const ConstDenseView& view);
void require_device_addresses(const CsrMatrix& a);

/// Bytes of a dense operand without padding.
std::uint64_t dense_bytes(Index rows, Index cols, ValueKind kind);

/// The device's copy of a dense operand on the host, without padding.
struct DenseTwin {
  DeviceBuffer<std::byte> bytes;

  /// Keeps its memory if the size is the same.
  void make(DeviceMemory& memory, std::uint64_t size, const char* what) {
    if (bytes.size_bytes() == size) return;
    bytes = {};
    bytes = DeviceBuffer<std::byte>(memory, static_cast<Offset>(size), what);
  }
  DenseView view(const ConstDenseView& like) const {
    return {bytes.data(), like.kind, like.rows, like.cols, like.cols, MemorySpace::device};
  }
};

}  // namespace csrkit::gpu
