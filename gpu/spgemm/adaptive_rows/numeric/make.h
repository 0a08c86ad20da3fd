// Making the rows of C, bin by bin.
#pragma once

#include "core/contract/spmm.h"
#include "gpu/spgemm/adaptive_rows/binning/short_rows.h"

namespace csrkit::gpu {

/// C's arrays: the offsets are complete, the other arrays have room.
template <class Value>
struct ProductArrays {
  DeviceOffsets row_offsets;
  Index* col_indices = nullptr;
  Value* values = nullptr;
};

/// wanted: C's columns are found and written. known: C has its columns already; they are read, and
/// only values are written.
enum class Structure : std::uint8_t { wanted, known };

/// The input of every kernel that makes rows.
template <class Value>
struct MakeRows {
  DeviceCsrView<Value> a, b;
  ProductArrays<Value> c;
  RowProfile profile;
  Value alpha;
  Semiring semiring;       // alpha is 1 unless plus_times
  bool has_twins = false;  // some rows have twins
  SharedSums shared_sums = {};
  int most_block_bytes = 0, most_large_team_bytes = 0;  // of shared memory
};

/// Each queues one launch over the rows of one bin of its kind.
template <class Value>
void copy_rows(Structure structure, const MakeRows<Value>& op, const RowList& list,
               cudaStream_t stream);
template <class Value>
void make_rows_by_merging(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                          const RowList& list, cudaStream_t stream);
template <class Value>
void make_short_rows(Structure structure, const MakeRows<Value>& op, const ShortRows& rows,
                     unsigned blocks, cudaStream_t stream);
/// B's offsets must be narrow. Queues two launches.
template <class Value>
void make_tiny_rows(Structure structure, const MakeRows<Value>& op, const TinyRows& rows,
                    cudaStream_t stream);
/// Bins from sort_512 on.
template <class Value>
void make_rows_by_sorting(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                          const RowList& list, cudaStream_t stream);
/// Only parts of at most kMostSorted products; others are left out.
template <class Value>
void make_parts_by_sorting(Structure structure, const MakeRows<Value>& op, const BinRules& rules,
                           const RowParts& parts, cudaStream_t stream);
template <class Value>
void make_rows_by_hash(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                       const RowList& list, cudaStream_t stream);
/// `room`: bytes of shared memory for each row.
template <class Value>
void make_rows_by_bit_range(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                            const RowList& list, int room, cudaStream_t stream);
/// The rows of CountBin::parts, after their parts are counted.
template <class Value>
void make_rows_in_parts(Structure structure, const MakeRows<Value>& op, const BinRules& rules,
                        const RowParts& parts, cudaStream_t stream);

}  // namespace csrkit::gpu
