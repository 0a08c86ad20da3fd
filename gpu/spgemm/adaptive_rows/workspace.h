// The arrays of one product of adaptive_rows, in one allocation.
#pragma once

#include "gpu/device/device_buffer.h"
#include "gpu/spgemm/adaptive_rows/profile/profile.h"

namespace csrkit::gpu {

struct Workspace {
  DeviceBuffer<std::byte> bytes;
  BinTotals *count_totals = nullptr, *make_totals = nullptr;  // contiguous; zero at first
  RowProfile profile;
  Index *count_list = nullptr, *make_list = nullptr;
  unsigned long long* states = nullptr;  // of the scan of counts; zero at first
  LongRows long_rows;

  /// Bytes for an A of `rows` rows and `nnz` entries; rows with more than `fewest_spread` entries
  /// are long.
  static std::uint64_t bytes_for(Index rows, Offset nnz, Offset fewest_spread);

  Workspace() = default;
  /// `with_twins`: with arrays to find rows with the same columns.
  Workspace(DeviceMemory& memory, Index rows, Offset nnz, Offset fewest_spread, bool with_twins);
};

}  // namespace csrkit::gpu
