// Counting the entries of the rows of C, bin by bin.
#pragma once

#include "gpu/spgemm/adaptive_rows/binning/short_rows.h"

namespace csrkit::gpu {

/// Counts the rows of one bin, into profile.counts. CountBin::parts: into parts.counts and
/// parts.products instead. Queues one launch.
void count_rows(CountBin bin, const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                const RowProfile& profile, const BinRules& rules, const RowList& list,
                const RowParts& parts, cudaStream_t stream);

/// Counts the rows of a bin that merges.
void count_rows_by_merging(CountBin bin, const DeviceCsrView<float>& a,
                           const DeviceCsrView<float>& b, const RowProfile& profile,
                           const RowList& list, cudaStream_t stream);

/// Counts the rows that a warp sorts, of all sizes in one launch.
void count_short_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                      const RowProfile& profile, const ShortRows& rows, unsigned blocks,
                      cudaStream_t stream);

/// Counts rows of at most 16 products. B's offsets must be narrow. Queues two launches.
void count_tiny_rows(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                     const RowProfile& profile, const TinyRows& rows, cudaStream_t stream);

/// Counts the rows of a bin from sort_512 on.
void count_rows_by_sorting(CountBin bin, const DeviceCsrView<float>& a,
                           const DeviceCsrView<float>& b, const RowProfile& profile,
                           const RowList& list, cudaStream_t stream);

}  // namespace csrkit::gpu
