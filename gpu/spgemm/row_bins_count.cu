// Counting in row_bins: how many entries a row of C has.
// Owns     8 to 32 lanes or a block: one row, or a part of its columns
// Reads    A's row, and B's columns once; per row a table in shared memory with 32 bits per key, a
//          key being 32 neighbouring columns: hashed, or every word between the row's first and
//          last. Bits are set by shared atomics, only where they are not set yet; the count does not
//          depend on the order
// Launch   128 to 512 threads
// Against  a table of columns: neighbours share a slot, so clustered rows need a fraction of the
//          probes, and counting bits replaces counting slots

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/row_bins_count.h"
#include "gpu/spgemm/row_bins_launch.cuh"
#include "gpu/spgemm/row_groups.cuh"

namespace csrkit::gpu {

namespace {

constexpr std::uint32_t kNoKey = ~0u;

__device__ void set_bit(std::uint32_t* word, Index col) {
  const std::uint32_t bit = 1u << (col & 31);
  if ((*static_cast<volatile std::uint32_t*>(word) & bit) == 0) atomicOr(word, bit);
}

/// The slot of `key` in an open-addressing table that has room for it.
template <int kSlots>
__device__ unsigned find_or_insert(std::uint32_t* keys, std::uint32_t key) {
  unsigned slot = hash_slot<kSlots>(key);
  while (true) {
    std::uint32_t found = static_cast<volatile std::uint32_t*>(keys)[slot];
    if (found == kNoKey) found = atomicCAS(keys + slot, kNoKey, key);
    if (found == kNoKey || found == key) return slot;
    slot = (slot + 1) & (kSlots - 1);
  }
}

template <int kLanes>
__device__ bool packs(const DeviceCsrView<float>& a, const RowProfile& profile, bool has_row,
                      Index row) {
  return has_row && suits_packing<kLanes>(profile.products[row], a.row_end(row) - a.row_begin(row));
}

template <int kLanes, int kSlots, int kThreads>
__global__ void __launch_bounds__(kThreads)
    count_by_hash(DeviceCsrView<float> a, DeviceCsrView<float> b, RowProfile profile,
                  RowList list) {
  using G = Group<kLanes>;
  extern __shared__ __align__(16) std::uint32_t tables[];
  __shared__ int scratch[32];
  constexpr int kLists = kLanes < 32 ? 1 : kThreads / kLanes;
  __shared__ Sources<kLanes, float> sources[kLists];
  const Offset item = Offset{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const bool has_row = item < list.count;
  const Index row = has_row ? list.rows[item] : 0;
  std::uint32_t* keys = tables + threadIdx.x / kLanes * 2 * kSlots;
  std::uint32_t* bits = keys + kSlots;
  for (int i = G::rank(); i < kSlots; i += kLanes) {
    keys[i] = kNoKey;
    bits[i] = 0;
  }
  G::sync();
  walk_products<kLanes, ProductColumn>(
      a, b, has_row, row, AllColumns{}, packs<kLanes>(a, profile, has_row, row),
      sources + threadIdx.x / kLanes % kLists, [&](const ProductColumn(&entries)[kSegments], auto) {
#pragma unroll
        for (int u = 0; u < kSegments; ++u) {
          const Index col = entries[u].col;
          if (col < 0) continue;
          const auto key = static_cast<std::uint32_t>(col) >> kWordLog2;
          set_bit(bits + find_or_insert<kSlots>(keys, key), col);
        }
      });
  G::sync();
  int mine = 0, total = 0;
  for (int i = G::rank(); i < kSlots; i += kLanes) mine += __popc(bits[i]);
  G::exclusive_sum(mine, total, scratch);
  if (has_row && G::rank() == 0) profile.counts[row] = static_cast<std::uint32_t>(total);
}

template <int kLanes, int kThreads, bool kIsPart>
__global__ void __launch_bounds__(kThreads)
    count_by_window(DeviceCsrView<float> a, DeviceCsrView<float> b, RowProfile profile,
                    RowList list, RowParts parts, int room) {
  using G = Group<kLanes>;
  extern __shared__ __align__(16) std::uint32_t tables[];
  __shared__ int scratch[32];
  constexpr int kLists = kLanes < 32 ? 1 : kThreads / kLanes;
  __shared__ Sources<kLanes, float> sources[kLists];
  const Offset item = Offset{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const Offset place = kIsPart ? item / parts.per_row : item;
  const bool has_row = place < list.count;
  const Index row = has_row ? list.rows[place] : 0;
  int words = has_row ? profile.words[row] : 0;
  Index first = has_row ? profile.first_word[row] : 0;
  if constexpr (kIsPart) {
    const Offset skipped = item % parts.per_row * parts.words;
    if (!has_row) return;
    if (skipped >= words) {
      if (G::rank() == 0) parts.counts[item] = 0;
      return;
    }
    first += static_cast<Index>(skipped);
    words = static_cast<int>(min(words - skipped, Offset{parts.words}));
  }
  std::uint32_t* bits = tables + threadIdx.x / kLanes * room;
  for (int i = G::rank(); i < words; i += kLanes) bits[i] = 0;
  G::sync();
  const bool is_packed = packs<kLanes>(a, profile, has_row, row);
  Sources<kLanes, float>* const list_of_sources = sources + threadIdx.x / kLanes;
  const auto mark = [&](const ProductColumn(&entries)[kSegments], auto) {
#pragma unroll
    for (int u = 0; u < kSegments; ++u) {
      const Index col = entries[u].col;
      if (col >= 0) set_bit(bits + ((col >> kWordLog2) - first), col);
    }
  };
  if constexpr (kIsPart) {
    const ColumnRange columns = {Offset{first} << kWordLog2, Offset{first + words} << kWordLog2};
    walk_products<kLanes, ProductColumn>(a, b, has_row, row, columns, is_packed, list_of_sources,
                                         mark);
  } else {
    walk_products<kLanes, ProductColumn>(a, b, has_row, row, AllColumns{}, is_packed,
                                         list_of_sources, mark);
  }
  G::sync();
  int mine = 0, total = 0;
  for (int i = G::rank(); i < words; i += kLanes) mine += __popc(bits[i]);
  G::exclusive_sum(mine, total, scratch);
  if (!has_row || G::rank() != 0) return;
  if constexpr (kIsPart) {
    parts.counts[item] = static_cast<std::uint32_t>(total);
    atomicAdd(profile.counts + row, static_cast<std::uint32_t>(total));
  } else {
    profile.counts[row] = static_cast<std::uint32_t>(total);
  }
}

template <int kLanes, int kSlots, int kThreads>
void launch_hash(const DeviceCsrView<float>& a, const DeviceCsrView<float>& b,
                 const RowProfile& profile, const RowList& list, cudaStream_t stream) {
  launch_rows<kThreads, kLanes>(count_by_hash<kLanes, kSlots, kThreads>, "count_by_hash",
                                list.count, kSlots * 8, stream, a, b, profile, list);
}

template <int kLanes, int kThreads, bool kIsPart>
void launch_window(const DeviceCsrView<float>& a, const DeviceCsrView<float>& b,
                   const RowProfile& profile, const RowList& list, const RowParts& parts, int room,
                   cudaStream_t stream) {
  launch_rows<kThreads, kLanes>(count_by_window<kLanes, kThreads, kIsPart>, "count_by_window",
                                kIsPart ? list.count * parts.per_row : list.count, room * 4, stream,
                                a, b, profile, list, parts, room);
}

}  // namespace

void count_rows(CountBin bin, const DeviceCsrView<void>& any_a, const DeviceCsrView<void>& any_b,
                const RowProfile& profile, const RowList& list, const RowParts& parts,
                cudaStream_t stream) {
  const DeviceCsrView<float> a = any_a.as<float>(), b = any_b.as<float>();  // values are not read
  switch (bin) {
    case CountBin::merge_4:
    case CountBin::merge_8: return count_rows_by_merging(bin, a, b, profile, list, stream);
    case CountBin::hash_64: return launch_hash<8, 64, 256>(a, b, profile, list, stream);
    case CountBin::hash_256: return launch_hash<16, 256, 256>(a, b, profile, list, stream);
    case CountBin::hash_1024: return launch_hash<32, 1024, 256>(a, b, profile, list, stream);
    case CountBin::hash_4096: return launch_hash<128, 4096, 128>(a, b, profile, list, stream);
    case CountBin::hash_16384: return launch_hash<512, 16384, 512>(a, b, profile, list, stream);
    case CountBin::window_warp:
      return launch_window<32, 256, false>(a, b, profile, list, parts, kWarpWindowWords, stream);
    case CountBin::window_block:
      return launch_window<256, 256, false>(a, b, profile, list, parts, kBlockWindowWords, stream);
    case CountBin::parts:
      return launch_window<256, 256, true>(a, b, profile, list, parts, parts.words, stream);
    case CountBin::done:
    case CountBin::count: break;
  }
}

}  // namespace csrkit::gpu
