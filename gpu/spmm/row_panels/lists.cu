// Rows into panels. A warp makes the list of a panel: all entries of its first row, then of every
// other row those whose column no row before it has. An entry is looked up in the other rows by
// binary search, in shared memory. Panels for tensor cores have a block each, and a hash table.

#include <algorithm>
#include <type_traits>

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/device/workspace_layout.h"
#include "gpu/spmm/lane_sums.cuh"
#include "gpu/spmm/row_panels/find_in_rows.cuh"
#include "gpu/spmm/row_panels/hashed_list.cuh"
#include "gpu/spmm/row_panels/lists.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu {

using namespace row_panels;

namespace {

constexpr int kThreads = 128, kLongThreads = 512;

/// A panel of more entries is a block's work. One of even more gets no list of its own making:
/// nobody looks whether its rows share columns, they are copied one after the other.
constexpr Offset kLongPanel = 512;
constexpr Offset kCopiedPanel = 1 << 16;
/// Of a panel that is a block's work, so many columns fit its shared memory.
constexpr Index kSharedEntries = 8192;

/// Panels in no order: what is made of one does not depend on when.
struct PanelQueue {
  Index* count;
  Index* panels;
  __device__ void push(Offset panel) const {
    panels[atomicAdd(count, 1)] = static_cast<Index>(panel);
  }
};

/// Where values are read; panels for tensor cores have them in any case, `one` where
/// A has none.
template <class Word, int kRows>
struct ValueSource {
  const Word* values;
  Word one;
  __device__ bool are_written() const { return kRows == kTiledPanelRows || values != nullptr; }
  __device__ Word at(Offset entry) const { return values == nullptr ? one : __ldg(values + entry); }
};

template <class Word, int kRows>
__device__ void write_entry(const PanelLists& out, bool has_values, Offset at, Index col,
                            unsigned mask, const Pack<Word, kRows>& values) {
  out.cols[at] = col;
  out.masks[at] = static_cast<std::uint8_t>(mask);
  if (!has_values) return;
  if constexpr (kRows == kTiledPanelRows) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      static_cast<Word*>(out.values)[tiled_value_at(at, r)] = values.item[r];
    }
  } else {
    static_cast<Pack<Word, kRows>*>(out.values)[at] = values;
  }
}

/// Where the rows of a panel begin and end; those beyond the last row are empty. The lanes of a
/// warp have one panel and read an offset each.
template <int kRows>
struct PanelBounds {
  Offset of[kRows + 1];
  __device__ PanelBounds(const DeviceCsrView<void>& a, Offset panel) {
    const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
    const Offset row = min(panel * kRows + min(lane, kRows), Offset{a.rows});
    const Offset own = a.row_offsets[row] - a.base;
#pragma unroll
    for (int r = 0; r <= kRows; ++r) of[r] = __shfl_sync(kAllLanes, own, r);
  }
  __device__ Offset first() const { return of[0]; }
  __device__ Offset entries() const { return of[kRows] - of[0]; }
};

/// The work of kGroup threads, a warp or a block: entry by entry, as they lie in A.
template <class Word, int kRows, int kGroup, class Columns>
__device__ void make_list(const DeviceCsrView<void>& a, const Columns& cols, Offset panel,
                          const PanelBounds<kRows>& bounds, Word one, const PanelLists& out) {
  constexpr int kWarps = kGroup / kWarpLanes;
  __shared__ Index firsts_of_warp[kGroup > kWarpLanes ? 2 : 1][kWarps];
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int lane = thread % kWarpLanes, warp = thread / kWarpLanes;
  const ValueSource<Word, kRows> values{static_cast<const Word*>(a.values), one};
  const bool has_values = values.are_written();
  RowRanges<kRows> rows;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    rows.begin[r] = static_cast<Index>(bounds.of[r] - bounds.first());
    rows.end[r] = static_cast<Index>(bounds.of[r + 1] - bounds.first());
  }
  const Offset begin = panel_begin(bounds.first(), panel);
  Index length = 0;
  int turn = 0;
  const Index total = rows.entries();
#pragma unroll 1
  for (Index from = 0; from < total; from += kGroup, turn ^= 1) {
    bool is_first = from + thread < total;  // of the panel's entries in this column
    int row = 0;
    Index entry = from + thread;  // of the row
#pragma unroll
    for (int r = 0; r + 1 < kRows; ++r) {
      const Index here = rows.end[r] - rows.begin[r];
      if (row < r || entry < here) continue;
      row = r + 1;
      entry -= here;
    }
    Index own_begin = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r == row) own_begin = rows.begin[r];
    }
    const Index col = is_first ? cols[own_begin + entry] : 0;
    Pack<Word, kRows> found{};
    unsigned mask = 0;
    if (is_first) {
      Index at[kRows];
      is_first = find_in_rows(cols, rows, col, row, entry, at);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (!is_first || at[r] < 0) continue;
        mask |= 1u << r;
        if (has_values) found.item[r] = values.at(bounds.first() + at[r]);
      }
    }
    const unsigned firsts = __ballot_sync(kAllLanes, is_first);
    Index before = 0, all = __popc(firsts);
    if constexpr (kGroup > kWarpLanes) {
      if (lane == 0) firsts_of_warp[turn][warp] = all;
      __syncthreads();  // once: the next turn writes elsewhere
      all = 0;
      for (int w = 0; w < kWarps; ++w) {
        if (w == warp) before = all;
        all += firsts_of_warp[turn][w];
      }
    }
    if (is_first) {
      before += __popc(firsts & ((1u << lane) - 1));
      write_entry(out, has_values, begin + length + before, col, mask, found);
    }
    length += all;
  }
  if (thread == 0) out.lengths[panel] = length;
  // Entries that nobody has, up to where the next step of a multiplication begins.
  if (length + thread < (length + kPanelAlign - 1) / kPanelAlign * kPanelAlign) {
    write_entry<Word, kRows>(out, has_values, begin + length + thread, 0, 0, {});
  }
}

template <class Word, int kRows>
__global__ void __launch_bounds__(kThreads)
    make_panel_lists(DeviceCsrView<void> a, Index panels, Word one, PanelLists out,
                     PanelQueue longs, PanelQueue copied) {
  const Offset panel = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kWarpLanes;
  if (panel >= panels) return;
  const PanelBounds<kRows> bounds(a, panel);
  __shared__ Index copies[kThreads / kWarpLanes][kLongPanel];
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (bounds.entries() <= kLongPanel) {
    Index* copy = copies[threadIdx.x / kWarpLanes];
    const auto entries = static_cast<Index>(bounds.entries());
    for (Index i = lane; i < entries; i += kWarpLanes) {
      copy[i] = __ldg(a.col_indices + bounds.first() + i);
    }
    __syncwarp();
    return make_list<Word, kRows, kWarpLanes>(a, ColumnsInShared{copy}, panel, bounds, one, out);
  }
  if (lane != 0) return;
  (bounds.entries() <= kCopiedPanel ? longs : copied).push(panel);
}

constexpr int kFewestTabled = 512;

/// For tensor cores: the most entries of a panel whose columns go into a table in shared memory.
/// Few, so that many blocks fit; enough for panels twice as long as the mean.
int most_tabled(Offset nnz, Index panels) {
  constexpr int kMost = 2048;
  int most = kFewestTabled;
  while (most < kMost && Offset{most} * panels < 2 * nnz) most *= 2;
  return most;
}

/// The same for tensor cores, a block of kBlock threads a panel.
template <class Word, int kBlock>
__global__ void __launch_bounds__(kBlock)
    make_tiled_lists(DeviceCsrView<void> a, Word one, PanelLists out, PanelQueue longs,
                     PanelQueue copied, int most) {
  constexpr int kRows = kTiledPanelRows;
  extern __shared__ uint4 table_memory[];
  const Offset panel = blockIdx.x;
  const PanelBounds<kRows> bounds(a, panel);
  if (bounds.entries() > most) {
    if (threadIdx.x == 0) (bounds.entries() <= kCopiedPanel ? longs : copied).push(panel);
    return;
  }
  int row_begin[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) row_begin[r] = static_cast<int>(bounds.of[r] - bounds.first());
  const ValueSource<Word, kRows> values{static_cast<const Word*>(a.values), one};
  const int entries = static_cast<int>(bounds.entries());
  make_hashed_list<Word, kBlock>(
      ColumnTable(table_memory, most, entries), a.col_indices + bounds.first(), entries,
      panel_begin(bounds.first(), panel), panel,
      [&](int entry) {
        int row = 0;
#pragma unroll
        for (int r = 1; r < kRows; ++r) row += entry >= row_begin[r] ? 1 : 0;
        return row;
      },
      [&](int entry) { return values.at(bounds.first() + entry); }, out);
}

/// The whole grid copies a panel.
template <class Word, int kRows>
__device__ void copy_rows(const DeviceCsrView<void>& a, Offset panel,
                          const PanelBounds<kRows>& bounds, Word one, const PanelLists& out) {
  const ValueSource<Word, kRows> values{static_cast<const Word*>(a.values), one};
  const Offset begin = panel_begin(bounds.first(), panel), length = bounds.entries();
  const Offset padded = (length + kPanelAlign - 1) / kPanelAlign * kPanelAlign;
  if (blockIdx.x == 0 && threadIdx.x == 0) out.lengths[panel] = length;
  for (Offset at = Offset{blockIdx.x} * kLongThreads + threadIdx.x; at < padded;
       at += Offset{gridDim.x} * kLongThreads) {
    const Offset entry = bounds.first() + at;
    Pack<Word, kRows> own{};
    unsigned mask = 0;  // stays 0 beyond the last entry
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (entry < bounds.of[row] || entry >= bounds.of[row + 1]) continue;
      mask = 1u << row;
      if (values.are_written()) own.item[row] = values.at(entry);
    }
    const Index col = mask == 0 ? 0 : __ldg(a.col_indices + entry);
    write_entry(out, values.are_written(), begin + at, col, mask, own);
  }
}

template <class Word, int kRows>
__global__ void __launch_bounds__(kLongThreads)
    make_long_lists(DeviceCsrView<void> a, Word one, PanelLists out, PanelQueue longs,
                    PanelQueue copied) {
  __shared__ Index copy[kSharedEntries];
  for (Index i = static_cast<Index>(blockIdx.x); i < *longs.count;
       i += static_cast<Index>(gridDim.x)) {
    const Offset panel = longs.panels[i];
    const PanelBounds<kRows> bounds(a, panel);
    const Index* cols = a.col_indices + bounds.first();
    const auto entries = static_cast<Index>(bounds.entries());
    const auto make = [&](const auto& columns) {
      make_list<Word, kRows, kLongThreads>(a, columns, panel, bounds, one, out);
    };
    if (entries <= kSharedEntries) {
      for (Index at = static_cast<Index>(threadIdx.x); at < entries; at += kLongThreads) {
        copy[at] = __ldg(cols + at);
      }
      __syncthreads();
      make(ColumnsInShared{copy});
    } else {
      make(ColumnsInA{cols});
    }
    __syncthreads();  // the block's shared memory is used again
  }
  for (Index i = 0; i < *copied.count; ++i) {
    const Offset panel = copied.panels[i];
    copy_rows<Word, kRows>(a, panel, PanelBounds<kRows>(a, panel), one, out);
  }
}

}  // namespace

PanelListMaker::PanelListMaker(Index rows, Offset nnz, int value_bytes, std::uint16_t one)
    : panels_(static_cast<Index>((Offset{rows} + panel_rows(value_bytes) - 1) /
                                 panel_rows(value_bytes))),
      value_bytes_(value_bytes),
      one_(one),
      max_entries_(panel_begin(nnz, panels_)) {
  WorkspaceLayout layout;
  counts_at_ = layout.reserve<Index>(2);
  long_at_ = layout.reserve<Index>(nnz / kLongPanel);
  copied_at_ = layout.reserve<Index>(nnz / kCopiedPanel);
  lengths_at_ = layout.reserve<Offset>(panels_);
  cols_at_ = layout.reserve<Index>(max_entries_);
  masks_at_ = layout.reserve<std::uint8_t>(max_entries_);
  values_at_ = layout.reserve_bytes(
      static_cast<std::uint64_t>(max_entries_ * panel_rows(value_bytes) * value_bytes));
  bytes_ = layout.bytes();
}

PanelLists PanelListMaker::lay_out(void* workspace) const {
  auto* bytes = static_cast<std::byte*>(workspace);
  PanelLists lists;
  lists.lengths = reinterpret_cast<Offset*>(bytes + lengths_at_);
  lists.cols = reinterpret_cast<Index*>(bytes + cols_at_);
  lists.masks = reinterpret_cast<std::uint8_t*>(bytes + masks_at_);
  lists.values = bytes + values_at_;
  return lists;
}

template <class Word>
void PanelListMaker::make_lists(const DeviceCsrView<void>& a, void* workspace,
                                cudaStream_t stream) const {
  auto* bytes = static_cast<std::byte*>(workspace);
  const PanelLists lists = lay_out(workspace);
  auto* counts = reinterpret_cast<Index*>(bytes + counts_at_);
  const PanelQueue longs{counts, reinterpret_cast<Index*>(bytes + long_at_)};
  const PanelQueue copied{counts + 1, reinterpret_cast<Index*>(bytes + copied_at_)};
  CHECK_CUDA(cudaMemsetAsync(counts, 0, 2 * sizeof(Index), stream));
  constexpr int kRows = panel_rows(static_cast<int>(sizeof(Word)));
  const auto one = static_cast<Word>(one_);
  if constexpr (kRows == kTiledPanelRows) {
    const int most = most_tabled(a.nnz, panels_);
    // Where tables are large few blocks fit, so those have more threads.
    const auto launch = [&](auto threads) {
      constexpr int kBlock = decltype(threads)::value;
      make_tiled_lists<Word, kBlock>
          <<<static_cast<unsigned>(panels_), kBlock, ColumnTable::bytes(most), stream>>>(
              a, one, lists, longs, copied, most);
    };
    if (most <= kFewestTabled) {
      launch(std::integral_constant<int, kThreads>{});
    } else {
      launch(std::integral_constant<int, 2 * kThreads>{});
    }
    CHECK_LAUNCH("make_tiled_lists", stream);
  } else {
    const auto blocks =
        static_cast<unsigned>((Offset{panels_} * kWarpLanes + kThreads - 1) / kThreads);
    make_panel_lists<Word, kRows>
        <<<blocks, kThreads, 0, stream>>>(a, panels_, one, lists, longs, copied);
    CHECK_LAUNCH("make_panel_lists", stream);
  }
  const Offset most_long = a.nnz / kLongPanel;
  if (most_long == 0) return;
  constexpr Offset kMostBlocks = 528;  // four on every multiprocessor
  const auto long_blocks = static_cast<unsigned>(std::min(most_long, kMostBlocks));
  make_long_lists<Word, kRows>
      <<<long_blocks, kLongThreads, 0, stream>>>(a, one, lists, longs, copied);
  CHECK_LAUNCH("make_long_lists", stream);
}

void PanelListMaker::analyse(const DeviceCsrView<void>& a, void* workspace,
                             cudaStream_t stream) const {
  if (panels_ == 0) return;
  switch (value_bytes_) {
    case 2: return make_lists<std::uint16_t>(a, workspace, stream);
    case 4: return make_lists<std::uint32_t>(a, workspace, stream);
    default: return make_lists<std::uint64_t>(a, workspace, stream);
  }
}

}  // namespace csrkit::gpu
