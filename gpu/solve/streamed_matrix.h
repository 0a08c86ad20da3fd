// A as plain CSR for the kernel that streams it through shared memory.
#pragma once

#include <cstdint>

#include "core/matrix/csr_matrix.h"
#include "gpu/device/device_buffer.h"
#include "gpu/solve/column.h"

namespace csrkit::gpu {

/// Entries at which a bulk copy can begin and end: 16 bytes of columns.
inline constexpr std::uint32_t kStreamUnit = 4;

/// Plain data. Columns and values have kStreamUnit places more than entries.
template <class T>
struct StreamedMatrix {
  const std::uint32_t* offsets = nullptr;  // rows + 1
  const Index* cols = nullptr;
  const T* values = nullptr;  // null: every entry is 1
  std::uint32_t room = 0;     // entries of a warp in shared memory, a multiple of kStreamUnit

  /// Of one warp.
  CSRKIT_HOST_DEVICE std::uint32_t room_bytes() const {
    return room * static_cast<std::uint32_t>(sizeof(Index) + (values == nullptr ? 0 : sizeof(T)));
  }
};

/// The arrays of a StreamedMatrix, owned.
template <class T>
class StreamedArrays {
 public:
  /// Throws UsageError for 2^31 entries and more, MemoryError where there is no room.
  StreamedArrays(const CsrMatrix& a, DeviceMemory& memory);
  StreamedMatrix<T> view() const;

 private:
  DeviceBuffer<std::uint32_t> offsets_;
  DeviceBuffer<Index> cols_;
  DeviceBuffer<T> values_;
  std::uint32_t room_ = 0;
};

}  // namespace csrkit::gpu
