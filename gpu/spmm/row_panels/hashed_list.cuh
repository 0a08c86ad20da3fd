// The list of a panel by a hash table in shared memory: with eight rows, an entry looked for in all
// others took most of the analysis.
#pragma once

#include <climits>

#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_panels/panel.h"
#include "gpu/spmm/row_tasks/row_tasks.h"

namespace csrkit::gpu::row_panels {

/// The columns of a panel, each with its first entry, in the order of the rows: where that entry is
/// in the list does not depend on which thread came first. In shared memory, for `most_entries`.
struct ColumnTable {
  Index* cols;
  int* first_entry;
  unsigned* masks;                // of the list's entries, four a word
  std::uint16_t* place_of_first;  // in the list
  unsigned slots;                 // in use, a power of two

  static constexpr unsigned kFewestSlots = 256;
  static constexpr int bytes(int most_entries) {
    return most_entries *
           static_cast<int>(2 * sizeof(Index) + 2 * sizeof(int) + 1 + sizeof(std::uint16_t));
  }
  __device__ ColumnTable(void* memory, int most_entries, int entries)
      : cols(static_cast<Index*>(memory)),
        first_entry(cols + 2 * most_entries),
        masks(reinterpret_cast<unsigned*>(first_entry + 2 * most_entries)),
        place_of_first(reinterpret_cast<std::uint16_t*>(masks + most_entries / 4)),
        slots(kFewestSlots) {
    while (slots < 2 * static_cast<unsigned>(entries)) slots *= 2;
  }

  __device__ unsigned start_of(Index col) const {
    return (static_cast<unsigned>(col) * 0x9e3779b1u >> 16) & (slots - 1);
  }
  __device__ void add(Index col, int entry) {
    unsigned slot = start_of(col);
    while (true) {
      const Index before = atomicCAS(&cols[slot], -1, col);
      if (before == -1 || before == col) break;
      slot = (slot + 1) & (slots - 1);
    }
    atomicMin(&first_entry[slot], entry);
  }
  __device__ int first_with(Index col) const {
    unsigned slot = start_of(col);
    while (cols[slot] != col) slot = (slot + 1) & (slots - 1);
    return first_entry[slot];
  }
};

/// The work of a block of kThreads. `row_of(entry)`: which row of the panel an entry is of;
/// `value_of(entry)`: its value.
template <class Word, int kThreads, class RowOf, class ValueOf>
__device__ void make_hashed_list(ColumnTable table, const Index* cols, int entries, Offset begin,
                                 Offset panel, const RowOf& row_of, const ValueOf& value_of,
                                 const PanelLists& out) {
  constexpr int kWarps = kThreads / kWarpLanes;
  __shared__ int firsts_of_warp[2][kWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpLanes, warp = thread / kWarpLanes;
  for (unsigned i = threadIdx.x; i < table.slots; i += kThreads) {
    table.cols[i] = -1;
    table.first_entry[i] = INT_MAX;
  }
  for (int i = thread; i < (entries + 3) / 4; i += kThreads) table.masks[i] = 0;
  __syncthreads();
  for (int entry = thread; entry < entries; entry += kThreads)
    table.add(__ldg(cols + entry), entry);
  __syncthreads();
  int length = 0, turn = 0;
  for (int from = 0; from < entries; from += kThreads, turn ^= 1) {
    const int entry = from + thread;
    const Index col = entry < entries ? __ldg(cols + entry) : 0;
    const bool is_first = entry < entries && table.first_with(col) == entry;
    const unsigned firsts = __ballot_sync(kAllLanes, is_first);
    if (lane == 0) firsts_of_warp[turn][warp] = __popc(firsts);
    __syncthreads();  // once: the next turn writes elsewhere
    int before = length + __popc(firsts & ((1u << lane) - 1));
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) before += firsts_of_warp[turn][w];
      length += firsts_of_warp[turn][w];
    }
    if (is_first) {
      out.cols[begin + before] = col;
      table.place_of_first[entry] = static_cast<std::uint16_t>(before);
    }
  }
  // Entries that nobody has follow, up to where the next step of a multiplication begins.
  const int padded = (length + kPanelAlign - 1) / kPanelAlign * kPanelAlign;
  auto* values = static_cast<Word*>(out.values);
  static_assert(sizeof(Word) * kTiledPanelRows == sizeof(uint4));
  auto* vectors = reinterpret_cast<uint4*>(values + tiled_value_at(begin, 0));
  for (int i = thread; i < padded; i += kThreads) vectors[i] = {};
  if (length + thread < padded) out.cols[begin + length + thread] = 0;
  if (thread == 0) out.lengths[panel] = length;
  __syncthreads();
  for (int entry = thread; entry < entries; entry += kThreads) {
    const int place = table.place_of_first[table.first_with(__ldg(cols + entry))];
    const int row = row_of(entry);
    values[tiled_value_at(begin + place, row)] = value_of(entry);
    atomicOr(&table.masks[place / 4], 1u << (row + place % 4 * 8));
  }
  __syncthreads();
  auto* masks = reinterpret_cast<unsigned*>(out.masks + begin);
  for (int i = thread; i < padded / 4; i += kThreads) {
    masks[i] = i < (length + 3) / 4 ? table.masks[i] : 0;
  }
}

}  // namespace csrkit::gpu::row_panels
