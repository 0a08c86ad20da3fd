// Makes the list of a panel in shared memory, by a warp or a block: a hash table finds entries with
// a common column, which is faster than searching each of them in the other rows.
#pragma once

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_panels/panel.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu::row_panels {

/// The entries of a panel: columns and values from the panel's first entry on; those of row r begin
/// at begin[r].
template <class Word, int kRows>
struct PanelEntries {
  const Index* cols;
  const Word* values;  // null: all are `one`
  Word one;
  int count;
  int begin[kRows];

  __device__ int row_of(int entry) const {
    int row = 0;
#pragma unroll
    for (int r = 1; r < kRows; ++r) row += entry >= begin[r] ? 1 : 0;
    return row;
  }
  __device__ Word value_at(int entry) const {
    return values == nullptr ? one : __ldg(values + entry);
  }
};

/// The threads that make one list: a warp or the whole block.
template <int kThreads>
struct ListTeam {
  static constexpr int kWarps = kThreads / kWarpLanes;
  int thread, lane, warp;
  int (*firsts_of_warp)[kWarps];  // two rows in shared memory; only for a block

  __device__ static void sync() {
    if constexpr (kThreads == kWarpLanes) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  /// The number of earlier threads whose condition holds; `all`: of all threads.
  __device__ int count_before(bool yes, int turn, int& all) const {
    const unsigned yeses = __ballot_sync(kAllLanes, yes);
    int before = __popc(yeses & ((1u << lane) - 1));
    all = __popc(yeses);
    if constexpr (kThreads > kWarpLanes) {
      if (lane == 0) firsts_of_warp[turn][warp] = all;
      sync();  // one barrier is enough: the next turn uses the other row
      all = 0;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        if (w == warp) before += all;
        all += firsts_of_warp[turn][w];
      }
    } else {
      sync();  // the inputs of the condition may change after this
    }
    return before;
  }
};

/// The entry of each row that has the list's column, or kNone.
inline constexpr std::uint16_t kNone = 0xffff;
template <int kRows>
struct alignas(2 * kRows) EntriesOfRows {
  std::uint16_t of[kRows];
};

/// A panel's columns, hash table and list, in shared memory.
template <int kRows>
struct ListMemory {
  unsigned* slots;  // the first entry with a column << 16 | its place in the list
  EntriesOfRows<kRows>* list;
  Index* cols;

  static constexpr unsigned kFree = 0xffffffff;
  /// Room for so many entries: a multiple of kEntriesTogether, at least kFewestEntries.
  static constexpr int kEntriesTogether = 4, kFewestEntries = 64;
  __host__ __device__ static constexpr int bytes(int entries) {
    return entries *
           static_cast<int>(2 * sizeof(unsigned) + sizeof(EntriesOfRows<kRows>) + sizeof(Index));
  }
  /// The number of slots, about two an entry: whole vectors, and at least one a lane.
  __device__ static unsigned slots_for(int entries) {
    const auto twice = 2 * static_cast<unsigned>(entries);
    return max((twice + 3) / 4 * 4, 2u * kFewestEntries);
  }
  __device__ ListMemory(std::byte* memory, int entries)
      : slots(reinterpret_cast<unsigned*>(memory)),
        list(reinterpret_cast<EntriesOfRows<kRows>*>(slots + 2 * entries)),
        cols(reinterpret_cast<Index*>(list + entries)) {}
};

/// Assigns places in the order of A: all entries of the panel's first row, then from every other
/// row those whose column no earlier row has.
template <class Word, int kRows, int kThreads>
__device__ int find_list(const ListTeam<kThreads>& team, const ListMemory<kRows>& memory,
                         const PanelEntries<Word, kRows>& entries) {
  const unsigned slot_count = ListMemory<kRows>::slots_for(entries.count);
  constexpr unsigned kFree = ListMemory<kRows>::kFree;
  auto* clear = reinterpret_cast<uint4*>(memory.slots);
#pragma unroll 1
  for (unsigned i = static_cast<unsigned>(team.thread); i < slot_count / 4; i += kThreads) {
    clear[i] = {kFree, kFree, kFree, kFree};
  }
  const auto load = [&](int entry) {
    return entry < entries.count ? __ldg(entries.cols + entry) : 0;
  };
  Index col = load(team.thread), next = load(team.thread + kThreads);
  if (team.thread < entries.count) memory.cols[team.thread] = col;
  team.sync();
  int length = 0;
#pragma unroll 1
  for (int from = 0, turn = 0; from < entries.count; from += kThreads, turn ^= 1) {
    const int entry = from + team.thread;
    const bool is_there = entry < entries.count;
    const unsigned own = static_cast<unsigned>(entry) << 16;
    unsigned slot = 0;
    if (is_there) {
      slot = __umulhi(static_cast<unsigned>(col) * 0x9e3779b1u, slot_count);
      while (true) {
        const unsigned before = atomicCAS(&memory.slots[slot], kFree, own);
        if (before == kFree) break;
        if (memory.cols[before >> 16] == col) {
          if (before > own) atomicMin(&memory.slots[slot], own);
          break;
        }
        if (++slot == slot_count) slot = 0;
      }
    }
    if (entry + kThreads < entries.count) memory.cols[entry + kThreads] = next;
    col = next;
    next = load(entry + 2 * kThreads);
    team.sync();
    const bool is_first = is_there && memory.slots[slot] == own;
    int all;
    const int place = length + team.count_before(is_first, turn, all);
    const int row = entries.row_of(entry);
    if (is_first) {
      memory.slots[slot] = own | static_cast<unsigned>(place);
      EntriesOfRows<kRows> found;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        found.of[r] = r == row ? static_cast<std::uint16_t>(entry) : kNone;
      }
      memory.list[place] = found;
    }
    team.sync();
    if (is_there && !is_first) {
      memory.list[memory.slots[slot] & 0xffff].of[row] = static_cast<std::uint16_t>(entry);
    }
    length += all;
  }
  team.sync();
  return length;
}

/// One place of a list.
template <int kRows>
struct Place {
  unsigned mask = 0;
  int first = 0;  // the entry of the first row that has the column
  __device__ explicit Place(const EntriesOfRows<kRows>& entries) {
#pragma unroll
    for (int r = kRows - 1; r >= 0; --r) {
      if (entries.of[r] == kNone) continue;
      mask |= 1u << r;
      first = entries.of[r];
    }
  }
};

template <class Word, int kRows, int kThreads>
__device__ void write_list(const ListTeam<kThreads>& team, const ListMemory<kRows>& memory,
                           const PanelEntries<Word, kRows>& entries, int length, Offset begin,
                           const PanelLists& out) {
  // Padding with empty entries up to the next step of a multiplication.
  const int padded = (length + kPanelAlign - 1) / kPanelAlign * kPanelAlign;
  const bool has_values = kRows == kTiledPanelRows || entries.values != nullptr;
  for (int at = team.thread; at < padded; at += kThreads) {
    EntriesOfRows<kRows> here;
#pragma unroll
    for (int r = 0; r < kRows; ++r) here.of[r] = kNone;
    if (at < length) here = memory.list[at];
    const Place<kRows> place(here);
    out.cols[begin + at] = at < length ? memory.cols[place.first] : 0;
    out.masks[begin + at] = static_cast<std::uint8_t>(place.mask);
    if constexpr (kRows == kTiledPanelRows) {
      // 16 bytes: of four neighbouring places two rows (tiled_value_at).
      constexpr int kPlaces = 4, kTogether = 2;
      Pack<Word, kPlaces * kTogether> values{};
      const int first = at / kPlaces * kPlaces, row = at % kPlaces * kTogether;
#pragma unroll
      for (int p = 0; p < kPlaces; ++p) {
        if (first + p >= length) continue;
        const auto two = *reinterpret_cast<const ushort2*>(&memory.list[first + p].of[row]);
        if (two.x != kNone) values.item[p] = entries.value_at(two.x);
        if (two.y != kNone) values.item[kPlaces + p] = entries.value_at(two.y);
      }
      static_cast<Pack<Word, kPlaces * kTogether>*>(out.values)[begin + at] = values;
    } else if (has_values) {
      Pack<Word, kRows> values{};
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (here.of[r] != kNone) values.item[r] = entries.value_at(here.of[r]);
      }
      static_cast<Pack<Word, kRows>*>(out.values)[begin + at] = values;
    }
  }
}

}  // namespace csrkit::gpu::row_panels
