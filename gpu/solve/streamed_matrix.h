// A as plain CSR, padded for the kernel that streams it through shared memory.
#pragma once

#include <cstdint>

#include "core/matrix/csr_matrix.h"
#include "gpu/device/device_buffer.h"
#include "gpu/solve/column.h"

namespace csrkit::gpu {

/// Bulk copies begin and end at multiples of so many entries: 16 bytes of columns.
inline constexpr std::uint32_t kStreamUnit = 4;

/// Plain data. `cols` and `values` have kStreamUnit more places than entries.
template <class T>
struct StreamedMatrix {
  const std::uint32_t* offsets = nullptr;  // rows + 1
  const Index* cols = nullptr;
  const T* values = nullptr;  // null: every entry is 1
  // entries that a warp holds in shared memory, a multiple of kStreamUnit
  std::uint32_t room = 0;

  /// Bytes of shared memory of one warp.
  CSRKIT_HOST_DEVICE std::uint32_t room_bytes() const {
    return room * static_cast<std::uint32_t>(sizeof(Index) + (values == nullptr ? 0 : sizeof(T)));
  }
};

/// The arrays of a StreamedMatrix, owned.
template <class T>
class StreamedArrays {
 public:
  /// Waits. Throws UsageError for about 2^31 entries and more, MemoryError.
  StreamedArrays(const CsrMatrix& a, DeviceMemory& memory);
  StreamedMatrix<T> view() const;

 private:
  DeviceBuffer<std::uint32_t> offsets_;
  DeviceBuffer<Index> cols_;
  DeviceBuffer<T> values_;
  std::uint32_t room_ = 0;
};

}  // namespace csrkit::gpu
