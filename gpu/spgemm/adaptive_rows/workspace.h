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
  void* sums = nullptr;  // for sum_counts
  std::size_t sums_bytes = 0;

  static std::uint64_t bytes_for(Index rows);

  Workspace() = default;
  Workspace(DeviceMemory& memory, Index rows);

  /// Exclusive sums of the profile's rows + 1 counts, which are the offsets of C.
  void sum_counts(std::uint32_t* offsets, Index rows, cudaStream_t stream);
  void sum_counts(Offset* offsets, Index rows, cudaStream_t stream);
};

}  // namespace csrkit::gpu
