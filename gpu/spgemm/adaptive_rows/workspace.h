// The arrays of one product of adaptive_rows, in one allocation.
#pragma once

#include "gpu/device/device_buffer.h"
#include "gpu/spgemm/adaptive_rows/profile.h"

namespace csrkit::gpu {

struct Workspace {
  DeviceBuffer<std::byte> bytes;
  BinTotals *count_totals = nullptr, *make_totals = nullptr;  // neighbours; zero at first
  RowProfile profile;
  Index *count_list = nullptr, *make_list = nullptr;
  unsigned long long* states = nullptr;  // of sums; zero at first
  LongRows long_rows;

  /// `nnz` of A, in `rows`; long are those with more than `fewest_spread` entries.
  static std::uint64_t bytes_for(Index rows, Offset nnz, Offset fewest_spread);

  Workspace() = default;
  /// `with_twins`: whether rows look for others with the same columns.
  Workspace(DeviceMemory& memory, Index rows, Offset nnz, Offset fewest_spread, bool with_twins);
};

}  // namespace csrkit::gpu
