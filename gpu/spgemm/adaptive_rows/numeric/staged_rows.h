// Rows of C that are made while they are counted. Sorting a row's products is most of the work of
// counting and of making it. So the entries of sorted rows are kept beside C, which has no room
// before all rows are counted, and copied when it has.
#pragma once

#include "gpu/device/device_buffer.h"
#include "gpu/spgemm/adaptive_rows/numeric/make.h"

namespace csrkit::gpu {

/// The buffer for such entries. Blocks reserve room in one of several arenas, so that their atomics
/// meet rarely. A row that finds no room is only counted, and made later as if there were no
/// buffer.
template <class Value>
struct StagedRows {
  static constexpr unsigned kArenas = 64;

  Index* cols = nullptr;
  Value* values = nullptr;
  unsigned long long* used = nullptr;  // entries of each arena; may exceed its room
  std::uint32_t room = 0;              // of an arena, in entries
};

/// Adds the products and entries of some rows of C to the totals: of rows of kFewestToStage to
/// 1,024 products.
void sample_repeats(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b, BinTotals* totals,
                    cudaStream_t stream);

/// Entries that the buffer has room for where rows have so many products: as many as C has if
/// staging just pays.
Offset room_of_staged(const BinRules& rules, Offset products, ValueKind kind);

/// Bytes of the buffer, and of a number per row.
std::uint64_t staged_bytes(Index rows, Offset room, ValueKind kind);

/// Lays `bytes` out, of staged_bytes, and sets profile.staged: no row is staged yet.
template <class Value>
StagedRows<Value> lay_out_staged(std::byte* bytes, Index rows, Offset room, RowProfile& profile,
                                 cudaStream_t stream);

/// The same as counting these rows; and makes those that find room in the buffer.
template <class Value>
void stage_short_rows(const MakeRows<Value>& op, const StagedRows<Value>& staged,
                      const ShortRows& rows, cudaStream_t stream);
/// The same for a bin from sort_512 on.
template <class Value>
void stage_rows_by_sorting(CountBin bin, const MakeRows<Value>& op, const StagedRows<Value>& staged,
                           const RowList& list, cudaStream_t stream);

/// Copies all staged rows to C, whose offsets are complete. `products`: of an average row.
template <class Value>
void copy_staged_rows(const MakeRows<Value>& op, const StagedRows<Value>& staged, Offset products,
                      cudaStream_t stream);

}  // namespace csrkit::gpu
