// Products with many rows of at most 16 products: these are made in the order of A, in one pass.
#pragma once

#include "gpu/spgemm/adaptive_rows/numeric/make.h"

namespace csrkit::gpu {

/// The length of `states` for make_rows_in_order: a number for each of its blocks.
inline Offset states_of_rows_in_order(Index rows) { return Offset{rows} / 128 + 1; }

/// Makes the rows of C that have at most 16 products or are one row of B, and writes C's offsets
/// and totals->nnz; tells the host the totals. Other rows must be counted. C has room for every
/// product, and its offsets, in `offsets` and in op.c.row_offsets, are narrow; so are those of B.
/// `states` must be zero.
template <class Value>
void make_rows_in_order(const MakeRows<Value>& op, std::uint32_t* offsets,
                        unsigned long long* states, HostTotals* totals,
                        const Told<HostTotals>::Place& host, cudaStream_t stream);

}  // namespace csrkit::gpu
