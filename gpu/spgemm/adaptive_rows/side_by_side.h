// Launches for the bins of a product, beside each other.
#pragma once

#include <algorithm>
#include <array>

#include "gpu/spgemm/adaptive_rows/binning/lists.h"
#include "gpu/spgemm/adaptive_rows/side_streams.h"

namespace csrkit::gpu {

inline constexpr int kShortRows = 0;  // bin 0 has no list

/// Calls `launch` for every bin that has rows: long rows first, kShortRows last if there are
/// `short_blocks`. Bins run concurrently from the last mark on, because each ends with a few long
/// rows that leave most of the device idle. In small products a fork costs more than it saves,
/// unless one of several bins is `long_bin` or a later one.
template <class Launch>
void side_by_side(SideStreams& streams, cudaStream_t stream, Offset products, Offset short_blocks,
                  int long_bin, const std::array<RowList, kMostBins>& lists, const Launch& launch) {
  constexpr Offset kSmall = 1 << 20;
  int bins = short_blocks > 0 ? 1 : 0;
  bool has_long = false;
  for (int bin = 0; bin < kMostBins; ++bin) {
    const bool has_rows = lists[static_cast<std::size_t>(bin)].count > 0;
    bins += has_rows;
    has_long |= has_rows && bin >= long_bin;
  }
  const bool forks = products >= kSmall || has_long;
  streams.fork(forks ? std::clamp(bins - 1, 0, SideStreams::kCount) : 0);
  int next = 0;
  for (int bin = kMostBins - 1; bin > 0; --bin) {
    if (lists[static_cast<std::size_t>(bin)].count == 0) continue;
    launch(bin, streams.at(next++, stream));
  }
  if (short_blocks > 0) launch(kShortRows, streams.at(next++, stream));
  streams.join(stream);
}

}  // namespace csrkit::gpu
