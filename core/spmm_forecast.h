// How long a sparse times dense product will take: the reads of the matrix at the prices of the
// machine.
#pragma once

#include "core/machine_profile.h"
#include "core/reuse_distance.h"

namespace csrkit {

/// The reads of a matrix as one device does them. Made once, serves every width of B.
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

/// One product, repeated (warm caches), with rows of B of `row_bytes`. Between a worker's own cache
/// and memory the distances are those of all workers together; below, its own.
SpmmForecast forecast_spmm(const DeviceProfile& device, const ReadProfile& reads, double row_bytes);

}  // namespace csrkit
