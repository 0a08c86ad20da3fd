// C of a sparse product, in device memory. Its size is known last, so the kernel that finds it
// allocates the arrays.
#pragma once

#include "core/matrix/csr_matrix.h"
#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Owns the three arrays. Offsets have 32 bits where `nnz` allows, else 64; one of the two buffers
/// is empty. Columns are ascending and unique in every row.
struct DeviceProduct {
  Index rows = 0;
  Index cols = 0;
  Offset nnz = 0;
  ValueKind kind = ValueKind::none;
  DeviceBuffer<std::uint32_t> narrow_offsets;
  DeviceBuffer<Offset> wide_offsets;
  DeviceBuffer<Index> col_indices;
  DeviceBuffer<std::byte> values;

  static bool fits_narrow(Offset nnz) { return nnz <= Offset{UINT32_MAX}; }

  /// Allocates columns and values for `entries` entries; sets `nnz`. Throws MemoryError.
  void allocate_entries(DeviceMemory& memory, Offset entries) {
    nnz = entries;
    if (entries == 0) return;
    col_indices = DeviceBuffer<Index>(memory, entries, "the columns of C");
    values = DeviceBuffer<std::byte>(memory, entries * size_of(kind), "the values of C");
  }

  template <class Value>
  DeviceCsrView<Value> view() const {
    return {rows,
            cols,
            nnz,
            {narrow_offsets.data(), wide_offsets.data()},
            0,
            col_indices.data(),
            static_cast<const Value*>(static_cast<const void*>(values.data()))};
  }

  std::uint64_t size_bytes() const {
    return narrow_offsets.size_bytes() + wide_offsets.size_bytes() + col_indices.size_bytes() +
           values.size_bytes();
  }
};

/// Copies the product to host memory, with 64-bit offsets. Waits.
CsrMatrix download(const DeviceProduct& product, int threads, cudaStream_t stream);

}  // namespace csrkit::gpu
