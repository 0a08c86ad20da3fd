// The sums of a summed-area table, made on a GPU. No CUDA in this header: tools may include it.
#pragma once

#include <cstdint>

#include "core/facts/summed_area_table.h"

namespace csrkit::gpu {

struct SumTimes {
  double upload_seconds = 0;  // column indices to the device
  double count_seconds = 0;   // entries to cells
  double scan_seconds = 0;    // along the rows, then down the columns
  double download_seconds = 0;
};

/// Fills `sums` as SummedAreaTable::FillSums says: exact in 64 bits, the same numbers as on the
/// CPU. Column indices pass through the device at most 2^28 at a time, so the matrix may be larger
/// than the device. A positive `memory_limit_bytes` bounds what is allocated there. Throws
/// NoDeviceError, MemoryError (needed, limit and free bytes) or DeviceError.
SumTimes fill_sums(const CsrMatrix& matrix, const SummedAreaTable& grid, Offset* sums, int device,
                   std::uint64_t memory_limit_bytes = 0);

}  // namespace csrkit::gpu
