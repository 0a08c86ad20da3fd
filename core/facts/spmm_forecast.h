// How long a sparse times dense product will take: the reads of the matrix at the prices of the
// machine.
#pragma once

#include <functional>

#include "core/facts/machine_profile.h"
#include "core/facts/reuse_distance.h"

namespace csrkit {

/// The reads of a matrix in the order of one device. Made once, for every width of B.
struct ReadProfile {
  ReuseProfile private_reads;  // each worker with its own cache
  ReuseProfile shared_reads;   // all of them with one
  double rows = 0;
  double nnz = 0;
};

/// Costs two simulations (see reuse_profile), one for a device of a single worker. Of `options`,
/// `readers` is not used.
ReadProfile read_profile(const CsrMatrix& matrix, const DeviceProfile& device,
                         const ReuseOptions& options = {});

struct SpmmForecast {
  double seconds = 0;            // fixed + rows + reads
  double rows_seconds = 0;       // what the rows of A cost beside their nonzeros
  double reads_seconds = 0;      // what the nonzeros cost
  double private_hit_share = 0;  // of the reads, in the worker's own cache
  double hit_share = 0;          // in that or the shared one
};

/// Bytes of a row of B with so many columns for `matrix` (f32 for kind none).
double b_row_bytes(const CsrMatrix& matrix, Index dense_cols);

/// Maps the bytes of a cache to the share of the reads that hit it. Never falls.
using HitShare = std::function<double(double bytes)>;

/// Of products that are repeated (warm caches), with rows of B of `row_bytes`. Up to the size of a
/// worker's own cache the distances are its own, beyond those of all workers together. Borrows.
HitShare hit_share(const DeviceProfile& device, const ReadProfile& reads, double row_bytes);

/// One of many products, with rows of B of `row_bytes`.
SpmmForecast forecast_spmm(const DeviceProfile& device, const ReadProfile& reads, double row_bytes);

/// The same for reads of which only the hits are known; `cols` rows of B are read at least once.
SpmmForecast forecast_spmm(const DeviceProfile& device, const HitShare& hits, double rows,
                           double cols, double nnz, double row_bytes);

}  // namespace csrkit
