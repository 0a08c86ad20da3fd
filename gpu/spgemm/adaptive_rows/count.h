// Counting the entries of the rows of C, bin by bin.
#pragma once

#include "gpu/spgemm/adaptive_rows/short_rows.h"

namespace csrkit::gpu {

/// Counts of the rows of one bin, into the profile; for CountBin::parts into the parts as well, and
/// the profile's counts must be zero. Queues one launch.
void count_rows(CountBin bin, const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                const RowProfile& profile, const BinRules& rules, const RowList& list,
                const RowParts& parts, cudaStream_t stream);

/// The same for the bins that merge.
void count_rows_by_merging(CountBin bin, const DeviceCsrView<float>& a,
                           const DeviceCsrView<float>& b, const RowProfile& profile,
                           const RowList& list, cudaStream_t stream);

/// The same for rows that a warp sorts.
void count_short_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                      const RowProfile& profile, const ShortRows& rows, unsigned blocks,
                      cudaStream_t stream);

/// The same for the bins whose rows a block sorts, or a warp more than 256 products.
void count_rows_by_sorting(CountBin bin, const DeviceCsrView<float>& a,
                           const DeviceCsrView<float>& b, const RowProfile& profile,
                           const RowList& list, cudaStream_t stream);

}  // namespace csrkit::gpu
