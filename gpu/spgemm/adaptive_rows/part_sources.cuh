// What the sources of a row of C, the rows of B that it takes, have in a part of its columns.
#pragma once

#include <cstdint>

#include "gpu/device/device_csr.h"
#include "gpu/spgemm/adaptive_rows/row_groups.cuh"

namespace csrkit::gpu {

/// Which columns of C a walk is about, if not all.
struct ColumnRange {
  static constexpr bool kIsPart = true;
  Offset first, last;
};

/// Whether a row is made at once or in parts, and whether a device has few parts to make: then
/// rows with many sources are looked for, which takes registers.
enum class PartKind { whole_row, one_of_few, one_of_many };
inline constexpr Offset kFewParts = 2048;

/// Of a part of a row with more sources than this, most have nothing in the part's columns.
inline constexpr Offset kManySources = 1024;
/// How many of them a lane looks at at once.
inline constexpr int kSourcesAtOnce = 4;

/// What sources have in a part's columns: those of A's entries `at`, `at + stride` and so on,
/// before `end`. All loads are on their way together; only who has something is searched.
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
