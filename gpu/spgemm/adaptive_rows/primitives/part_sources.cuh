// The sources of a row of C are the rows of B that it takes. Here: which of their entries lie in a
// part of the row's columns.
#pragma once

#include <cstdint>

#include "gpu/device/device_csr.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"

namespace csrkit::gpu {

/// The columns [first, last) of C that a walk is limited to.
struct ColumnRange {
  static constexpr bool kIsPart = true;
  Offset first, last;
};

/// Whether a row is made whole or in parts. one_of_few: there are few parts, so rows with many
/// sources get a walk of their own, which costs registers.
enum class PartKind { whole_row, one_of_few, one_of_many };
inline constexpr Offset kFewParts = 2048;

/// In a row with more sources than this, most sources have no entry in a part's columns.
inline constexpr Offset kManySources = 1024;
/// Sources that a lane looks at at once.
inline constexpr int kSourcesAtOnce = 4;

/// Finds the entries in a part's columns of the sources of A's entries at, at + stride, ... before
/// `end`: `length` entries from `first` on. All loads are in flight together; only sources that
/// overlap the part are searched.
template <class Value>
__device__ void find_in_part(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                             Offset at, Offset stride, Offset end, const ColumnRange& columns,
                             Offset (&first)[kSourcesAtOnce],
                             std::uint32_t (&length)[kSourcesAtOnce]) {
  Index source[kSourcesAtOnce];
  Offset last[kSourcesAtOnce];
  Index low[kSourcesAtOnce], high[kSourcesAtOnce];
#pragma unroll
  for (int u = 0; u < kSourcesAtOnce; ++u) {
    source[u] = at + u * stride < end ? __ldg(a.col_indices + at + u * stride) : -1;
  }
#pragma unroll
  for (int u = 0; u < kSourcesAtOnce; ++u) {
    first[u] = source[u] >= 0 ? b.row_begin(source[u]) : 0;
    last[u] = source[u] >= 0 ? b.row_end(source[u]) : 0;
  }
#pragma unroll
  for (int u = 0; u < kSourcesAtOnce; ++u) {
    const bool has_any = first[u] < last[u];
    low[u] = has_any ? __ldg(b.col_indices + first[u]) : 0;
    high[u] = has_any ? __ldg(b.col_indices + last[u] - 1) : -1;
  }
#pragma unroll
  for (int u = 0; u < kSourcesAtOnce; ++u) {
    if (low[u] >= columns.last || high[u] < columns.first) {
      length[u] = 0;
      continue;
    }
    if (low[u] < columns.first) {
      first[u] = lower_bound(b.col_indices, first[u], last[u], columns.first);
    }
    if (high[u] >= columns.last) {
      last[u] = lower_bound(b.col_indices, first[u], last[u], columns.last);
    }
    length[u] = static_cast<std::uint32_t>(last[u] - first[u]);
  }
}

}  // namespace csrkit::gpu
