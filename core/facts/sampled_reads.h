// Which reads of rows of B hit a cache, estimated from a few windows of the rows of A: for
// forecasts that must not read all of a large matrix.
#pragma once

#include <functional>
#include <vector>

#include "core/facts/spmm_forecast.h"

namespace csrkit {

/// The share of the reads that hit a cache, by its size in rows of B. Rows of C pass through it.
struct HitCurve {
  std::vector<double> capacity_rows;  // ascending
  std::vector<double> shares;         // never fall

  /// Linear in between; 0 below the first capacity, the last share beyond the last.
  double at(double capacity) const;
};

/// The reads of repeated products, as in a ReadProfile. Made once, for every width of B.
struct SampledReads {
  HitCurve private_hits, shared_hits;
  double rows = 0, cols = 0, nnz = 0;
  double looked_at = 0;  // reads
};

/// Rows [begin, end) of A, its columns unchanged; the values are not looked at.
using RowReader = std::function<CsrMatrix(Index begin, Index end)>;

struct SampleOptions {
  Index windows = 3;
  Offset reads_each = Offset{1} << 20;  // in each half of a window
};

/// Simulates the reads of windows of neighbouring rows, or of one piece per worker if each worker
/// has a contiguous one; a small matrix is simulated whole. Only the second half of a window
/// counts, because the first has filled the caches. A read whose row was read in neither half is
/// far, and far reads are taken to fall on all rows of B alike.
SampledReads sample_reads(Index rows, Index cols, Offset nnz, const RowReader& read,
                          const DeviceProfile& device, const SampleOptions& options = {});

/// As for a ReadProfile. Borrows.
HitShare hit_share(const DeviceProfile& device, const SampledReads& reads, double row_bytes);
SpmmForecast forecast_spmm(const DeviceProfile& device, const SampledReads& reads,
                           double row_bytes);

}  // namespace csrkit
