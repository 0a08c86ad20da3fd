// What a machine can do, measured: the numbers of core/facts/machine_profile.h.
#pragma once

#include <vector>

#include "core/base/progress.h"
#include "core/contract/spmm.h"
#include "core/facts/machine_profile.h"

namespace csrkit {

struct ProbeRequest {
  std::vector<Index> dense_cols = {32, 128, 256};          // ascending
  std::uint64_t max_table_bytes = std::uint64_t{1} << 30;  // of the largest table of rows of B
  double seconds = 30;      // about how long to measure; decides how many reads and repetitions
  double max_spread = 0.5;  // of the samples behind every figure, over their median
  Offset least_reads = 1 << 18;  // of one product; more where a device is faster than its launch
  PlanOptions plan;
  ProgressCallback progress;
};

/// Measures `kernel` on matrices whose columns are uniformly random in tables of 16 KiB to the
/// largest, by doubling, and fills `fixed_seconds` and `gather`, with their spreads. Throws
/// MemoryError if the operands do not fit the host, VerifyError if a figure is not steady,
/// ContradictionError if the figures contradict each other.
void probe_products(const SpmmKernel& kernel, const ProbeRequest& request, DeviceProfile* profile);

/// The cores this process may use: name, threads, caches, memory, copy bandwidth. Without `gather`.
/// Throws VerifyError if the copy is not steady.
DeviceProfile cpu_device(int threads, double max_spread);

}  // namespace csrkit
