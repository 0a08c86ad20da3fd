// How many threads make the list of a panel, and for how many entries they have shared memory.
#pragma once

#include <algorithm>

#include "core/base/types.h"

namespace csrkit::gpu::row_panels {

/// Panels with more entries may be too long for the first kernel.
inline constexpr Offset kLongPanel = 512;

/// Threads of a block, and of one with memory for many entries.
inline constexpr int kListThreads = 128, kMoreListThreads = 2 * kListThreads;

/// A warp or a block of so many threads makes a list; a block has memory for `room` entries.
struct ListShape {
  bool is_warps;
  int threads;
  int room;
};

/// The most entries, a multiple of `together`, for which a block can have memory on a device that
/// lets it have `shared_bytes`.
constexpr int most_room(int shared_bytes, int entry_bytes, int together) {
  constexpr int kOtherBytes = 1024;
  return (shared_bytes - kOtherBytes) / entry_bytes / together * together;
}

/// Room for panels about 1.7 times as long as the average, at most `most`: more room would leave
/// fewer blocks on a multiprocessor, which costs as much as the binary searches save
/// (docs/lab/2026-11-26-spmm-plans.md). Blocks of many entries have more threads.
inline ListShape list_shape(Offset nnz, Index panels, int most) {
  constexpr Offset kMeanOfWarps = 128, kFewest = kLongPanel, kMost = 4096, kMostOfFewThreads = 1024;
  constexpr Offset kTogether = 128;
  const Offset mean = nnz / panels;
  if (mean <= kMeanOfWarps) return {true, kListThreads, static_cast<int>(kFewest)};
  const Offset enough = (mean * 17 / 10 + kTogether - 1) / kTogether * kTogether;
  const auto room = static_cast<int>(std::clamp(enough, kFewest, std::min(kMost, Offset{most})));
  return {false, room <= kMostOfFewThreads ? kListThreads : kMoreListThreads, room};
}

/// The entries that a block for long panels has memory for. Fewer blocks on a multiprocessor cost
/// less here than binary searches would, as long panels are few.
inline int long_room(const ListShape& shape, int most) {
  constexpr int kTimes = 4;
  return std::min(kTimes * shape.room, most);
}

}  // namespace csrkit::gpu::row_panels
