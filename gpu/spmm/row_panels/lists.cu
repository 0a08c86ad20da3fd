// Groups rows into panels. A panel's list has all entries of its first row, then from every other
// row those whose column no earlier row has. A warp or a block finds them by a hash table in shared
// memory. Panels that do not fit a usual block's share have a second kernel, whose blocks have up
// to all of the memory; what does not fit that either is searched for in the other rows (binary
// search).

#include <algorithm>
#include <climits>
#include <type_traits>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/find_in_rows.cuh"
#include "gpu/device/launch_early.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/device/workspace_layout.h"
#include "gpu/spmm/lane_sums.cuh"
#include "gpu/spmm/row_panels/list_shape.h"
#include "gpu/spmm/row_panels/lists.h"
#include "gpu/spmm/row_panels/shared_list.cuh"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu {

using namespace row_panels;

namespace {

/// Blocks per multiprocessor: as many as fit with 32 registers a thread; eight rows need 40.
constexpr int threads_together(int rows) { return rows == kTiledPanelRows ? 1536 : 2048; }

/// In panels with more entries shared columns are not looked for: the rows are copied one after the
/// other.
constexpr Offset kCopiedPanel = 1 << 16;

/// A list of panels, in any order: results do not depend on it.
struct PanelQueue {
  Index* count;
  Index* panels;
  __device__ void push(Offset panel) const {
    panels[atomicAdd(count, 1)] = static_cast<Index>(panel);
  }
};

/// Where values are read. Panels for tensor cores always have values: `one` if A has none.
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

/// Lane r of a warp: where row r of a panel begins; lanes from kRows on: where its last row ends.
/// Rows beyond the last one are empty.
template <int kRows>
__device__ Offset row_begin_of_lane(const DeviceCsrView<void>& a, Offset panel) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  return a.row_offsets[min(panel * kRows + min(lane, kRows), Offset{a.rows})] - a.base;
}

/// Uniform in the warp.
template <int kRows>
struct PanelBounds {
  Offset of[kRows + 1];
  __device__ PanelBounds(const DeviceCsrView<void>& a, Offset panel) {
    const Offset own = row_begin_of_lane<kRows>(a, panel);
#pragma unroll
    for (int r = 0; r <= kRows; ++r) of[r] = __shfl_sync(kAllLanes, own, r);
  }
  __device__ Offset first() const { return of[0]; }
  __device__ Offset entries() const { return of[kRows] - of[0]; }
};

/// The same for a panel that may fit shared memory, relative to its first entry; saturated to an
/// int.
template <int kRows>
struct ShortBounds {
  Offset first;
  int begin[kRows];
  int entries;
  __device__ ShortBounds(const DeviceCsrView<void>& a, Offset panel) {
    const Offset own = row_begin_of_lane<kRows>(a, panel);
    first = __shfl_sync(kAllLanes, own, 0);
    const int from_first = static_cast<int>(min(own - first, Offset{INT_MAX}));
#pragma unroll
    for (int r = 0; r < kRows; ++r) begin[r] = __shfl_sync(kAllLanes, from_first, r);
    entries = __shfl_sync(kAllLanes, from_first, kRows);
  }
};

/// The list of a panel that fits `memory`, which has room for `most` entries.
template <class Word, int kRows, int kTeam>
__device__ void make_short_list(const DeviceCsrView<void>& a, const ListTeam<kTeam>& team,
                                std::byte* memory, int most, Offset panel,
                                const ShortBounds<kRows>& bounds, Word one, const PanelLists& out) {
  PanelEntries<Word, kRows> entries{
      a.col_indices + bounds.first,
      a.values == nullptr ? nullptr : static_cast<const Word*>(a.values) + bounds.first,
      one,
      bounds.entries,
      {}};
#pragma unroll
  for (int r = 0; r < kRows; ++r) entries.begin[r] = bounds.begin[r];
  const ListMemory<kRows> list(memory, most);
  const int length = find_list(team, list, entries);
  write_list(team, list, entries, length, panel_begin(bounds.first, panel), out);
  if (team.thread == 0) out.lengths[panel] = length;
}

/// By a block: entry by entry, in A's order.
template <class Word, int kRows, int kBlock, class Columns>
__device__ void make_long_list(const DeviceCsrView<void>& a, const ListTeam<kBlock>& team,
                               const Columns& cols, Offset panel, const PanelBounds<kRows>& bounds,
                               Word one, const PanelLists& out) {
  const int thread = team.thread;
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
  for (Index from = 0; from < total; from += kBlock, turn ^= 1) {
    bool is_first = from + thread < total;  // the first of the panel's entries in its column
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
    int all;
    const int before = team.count_before(is_first, turn, all);
    if (is_first) write_entry(out, has_values, begin + length + before, col, mask, found);
    length += all;
  }
  if (thread == 0) out.lengths[panel] = length;
  // Pads the list with empty entries up to the next step of a multiplication.
  if (length + thread < (length + kPanelAlign - 1) / kPanelAlign * kPanelAlign) {
    write_entry<Word, kRows>(out, has_values, begin + length + thread, 0, 0, {});
  }
}

/// Makes the lists of kEach neighbouring panels. One panel: by the whole block. Several: a warp
/// each, if the panel fits the warp's share of the memory; the others by the block, one after
/// another. `room`: entries that a block has memory for.
template <class Word, int kRows, int kEach, int kBlock>
__global__ void __launch_bounds__(kBlock, threads_together(kRows) / kBlock)
    make_panel_lists(DeviceCsrView<void> a, Index panels, Word one, PanelLists out,
                     PanelQueue longs, PanelQueue copied, int room) {
  constexpr int kWarps = kBlock / kWarpLanes;
  let_next_kernel_begin();
  extern __shared__ uint4 list_memory[];
  __shared__ int firsts_of_warp[2][kWarps];
  __shared__ int left_over[kEach];
  auto* memory = reinterpret_cast<std::byte*>(list_memory);
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpLanes, warp = thread / kWarpLanes;
  const Offset first_panel = Offset{blockIdx.x} * kEach;
  if constexpr (kEach > 1) {
    static_assert(kEach == kWarps);
    const int most = room / kWarps;
    const Offset panel = first_panel + warp;
    bool is_left = false;
    if (panel < panels) {
      const ShortBounds<kRows> bounds(a, panel);
      is_left = bounds.entries > most;
      if (!is_left) {
        make_short_list(a, ListTeam<kWarpLanes>{lane, lane, 0, nullptr},
                        memory + warp * ListMemory<kRows>::bytes(most), most, panel, bounds, one,
                        out);
      }
    }
    if (lane == 0) left_over[warp] = is_left ? 1 : 0;
    __syncthreads();
  }
#pragma unroll 1
  for (int i = 0; i < kEach; ++i) {
    if (kEach > 1 && left_over[i] == 0) continue;
    const Offset panel = first_panel + i;
    const ShortBounds<kRows> bounds(a, panel);
    if (bounds.entries <= room) {
      make_short_list(a, ListTeam<kBlock>{thread, lane, warp, firsts_of_warp}, memory, room, panel,
                      bounds, one, out);
    } else if (thread == 0) {
      (bounds.entries <= kCopiedPanel ? longs : copied).push(panel);
    }
    if (kEach > 1) __syncthreads();  // before the memory is reused
  }
}

/// The whole grid copies one panel.
template <class Word, int kRows, int kBlock>
__device__ void copy_rows(const DeviceCsrView<void>& a, Offset panel,
                          const PanelBounds<kRows>& bounds, Word one, const PanelLists& out) {
  const ValueSource<Word, kRows> values{static_cast<const Word*>(a.values), one};
  const Offset begin = panel_begin(bounds.first(), panel), length = bounds.entries();
  const Offset padded = (length + kPanelAlign - 1) / kPanelAlign * kPanelAlign;
  if (blockIdx.x == 0 && threadIdx.x == 0) out.lengths[panel] = length;
  for (Offset at = Offset{blockIdx.x} * kBlock + threadIdx.x; at < padded;
       at += Offset{gridDim.x} * kBlock) {
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

/// `room`: entries that a block has memory for.
template <class Word, int kRows, int kBlock>
__global__ void __launch_bounds__(kBlock)
    make_long_lists(DeviceCsrView<void> a, Word one, PanelLists out, PanelQueue longs,
                    PanelQueue copied, int room) {
  extern __shared__ uint4 list_memory[];
  __shared__ int firsts_of_warp[2][kBlock / kWarpLanes];
  wait_for_kernel_before();
  let_next_kernel_begin();
  const int thread = static_cast<int>(threadIdx.x);
  const ListTeam<kBlock> team{thread, thread % kWarpLanes, thread / kWarpLanes, firsts_of_warp};
  const int most_columns = ListMemory<kRows>::bytes(room) / static_cast<int>(sizeof(Index));
  for (Index i = static_cast<Index>(blockIdx.x); i < *longs.count;
       i += static_cast<Index>(gridDim.x)) {
    const Offset panel = longs.panels[i];
    const ShortBounds<kRows> short_bounds(a, panel);
    if (short_bounds.entries <= room) {
      make_short_list(a, team, reinterpret_cast<std::byte*>(list_memory), room, panel, short_bounds,
                      one, out);
    } else {
      const PanelBounds<kRows> bounds(a, panel);
      const Index* cols = a.col_indices + bounds.first();
      if (short_bounds.entries <= most_columns) {
        auto* copy = reinterpret_cast<Index*>(list_memory);
        for (Index at = thread; at < short_bounds.entries; at += kBlock) {
          copy[at] = __ldg(cols + at);
        }
        __syncthreads();
        make_long_list(a, team, ColumnsInShared{copy}, panel, bounds, one, out);
      } else {
        make_long_list(a, team, ColumnsInA{cols}, panel, bounds, one, out);
      }
    }
    __syncthreads();  // before the shared memory is reused
  }
  for (Index i = 0; i < *copied.count; ++i) {
    const Offset panel = copied.panels[i];
    copy_rows<Word, kRows, kBlock>(a, panel, PanelBounds<kRows>(a, panel), one, out);
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
  long_at_ = layout.reserve<Index>(nnz / kLongPanel);
  copied_at_ = layout.reserve<Index>(nnz / kCopiedPanel);
  lengths_at_ = layout.reserve<Offset>(panels_);
  cols_at_ = layout.reserve<Index>(max_entries_);
  masks_at_ = layout.reserve<std::uint8_t>(max_entries_);
  values_at_ = layout.reserve_bytes(
      static_cast<std::uint64_t>(max_entries_ * panel_rows(value_bytes) * value_bytes));
  counts_at_ = layout.reserve<Index>(2);  // last: further memory to clear comes after it
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
                                std::uint64_t cleared_behind, cudaStream_t stream) const {
  auto* bytes = static_cast<std::byte*>(workspace);
  const PanelLists lists = lay_out(workspace);
  auto* counts = reinterpret_cast<Index*>(bytes + counts_at_);
  const PanelQueue longs{counts, reinterpret_cast<Index*>(bytes + long_at_)};
  const PanelQueue copied{counts + 1, reinterpret_cast<Index*>(bytes + copied_at_)};
  CHECK_CUDA(cudaMemsetAsync(counts, 0, bytes_ - counts_at_ + cleared_behind, stream));
  constexpr int kRows = panel_rows(static_cast<int>(sizeof(Word)));
  const auto one = static_cast<Word>(one_);
  const int shared_bytes = current_shared_bytes();
  const int most =
      most_room(shared_bytes, ListMemory<kRows>::bytes(1), ListMemory<kRows>::kEntriesTogether);
  const ListShape shape = list_shape(a.nnz, panels_, most);
  const auto memory_for = [](auto kernel, int room) {
    const int bytes = ListMemory<kRows>::bytes(room);
    constexpr int kUnasked = 48 << 10;
    if (bytes > kUnasked) {
      CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    }
    return bytes;
  };
  const auto launch = [&](auto panels_each, auto threads) {
    constexpr int kEach = decltype(panels_each)::value, kBlock = decltype(threads)::value;
    const auto kernel = make_panel_lists<Word, kRows, kEach, kBlock>;
    const int bytes = memory_for(kernel, shape.room);
    const auto blocks = static_cast<unsigned>((Offset{panels_} + kEach - 1) / kEach);
    kernel<<<blocks, kBlock, bytes, stream>>>(a, panels_, one, lists, longs, copied, shape.room);
  };
  using Each = std::integral_constant<int, 1>;
  using Threads = std::integral_constant<int, kListThreads>;
  using MoreThreads = std::integral_constant<int, kMoreListThreads>;
  if (shape.is_warps) {
    launch(std::integral_constant<int, kListThreads / kWarpLanes>{}, Threads{});
  } else if (shape.threads == kListThreads) {
    launch(Each{}, Threads{});
  } else {
    launch(Each{}, MoreThreads{});
  }
  CHECK_LAUNCH("make_panel_lists", stream);
  const Offset most_long = a.nnz / kLongPanel;
  if (most_long == 0) return;
  const int room = long_room(shape, most);
  const auto launch_long = [&](auto threads) {
    constexpr int kBlock = decltype(threads)::value;
    constexpr Offset kMostBlocks = 132 * 2048 / kBlock;  // full multiprocessors
    const auto kernel = make_long_lists<Word, kRows, kBlock>;
    launch_early(kernel, static_cast<unsigned>(std::min(most_long, kMostBlocks)), kBlock,
                 memory_for(kernel, room), stream, a, one, lists, longs, copied, room);
  };
  // A block that has a multiprocessor's memory for itself also has more threads.
  if (2 * ListMemory<kRows>::bytes(room) > shared_bytes) {
    launch_long(std::integral_constant<int, 1024>{});
  } else {
    launch_long(std::integral_constant<int, 512>{});
  }
  CHECK_LAUNCH("make_long_lists", stream);
}

void PanelListMaker::analyse(const DeviceCsrView<void>& a, void* workspace,
                             std::uint64_t cleared_behind, cudaStream_t stream) const {
  if (panels_ == 0) return;
  switch (value_bytes_) {
    case 2: return make_lists<std::uint16_t>(a, workspace, cleared_behind, stream);
    case 4: return make_lists<std::uint32_t>(a, workspace, cleared_behind, stream);
    default: return make_lists<std::uint64_t>(a, workspace, cleared_behind, stream);
  }
}

}  // namespace csrkit::gpu
