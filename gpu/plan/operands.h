// Operands of a plan on a device: those that are there already, and copies of those on the host.
#pragma once

#include "core/matrix/csr_matrix.h"
#include "core/matrix/dense_matrix.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// Throws UsageError if an array of an operand in device memory has an address that no device
/// knows. Using it would end in a fault that takes the whole context along.
void require_device_address(const char* name, const ConstDenseView& view);
void require_device_addresses(const CsrMatrix& a);

/// Bytes of a dense operand without padding.
std::uint64_t dense_bytes(Index rows, Index cols, ValueKind kind);

/// The device's copy of a dense operand that lives on the host; without padding.
struct DenseTwin {
  DeviceBuffer<std::byte> bytes;

  /// Keeps what it has if the size is the same.
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
