// Counting in adaptive_rows: how many entries a row of C has.
// Owns     8 to 32 lanes or a block: one row, or a part of its columns
// Reads    A's row, and B's columns once, 16 bytes a lane; per row a table in shared memory with 32
//          bits per key, a key being 32 neighbouring columns: hashed, or every word between the
//          row's first and last. Bits are set by shared atomics, only where they are not set yet;
//          the count does not depend on the order. The words may be kept for making: all of them,
//          or those that have a bit, with their numbers
// Launch   128 to 512 threads
// Against  a table of columns: here neighbouring columns share a slot, so clustered rows need a
//          fraction of the probes

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_columns.cuh"
#include "gpu/spgemm/adaptive_rows/symbolic/count.h"

namespace csrkit::gpu {

namespace {

constexpr std::uint32_t kNoKey = ~0u;

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
  for (int i = G::rank(); i < kSlots / 4; i += kLanes) {
    reinterpret_cast<uint4*>(keys)[i] = make_uint4(kNoKey, kNoKey, kNoKey, kNoKey);
    reinterpret_cast<uint4*>(bits)[i] = make_uint4(0, 0, 0, 0);
  }
  G::sync();
  const auto mark = [&](Index word, std::uint32_t of_word) {
    set_bits(bits + find_or_insert<kSlots>(keys, static_cast<std::uint32_t>(word)), of_word);
  };
  if constexpr (kLanes >= 32) {
    if (has_row) {
      walk_columns<kLanes>(
          a, b, row, AllColumns{}, sources[threadIdx.x / kLanes],
          [&](const Index(&cols)[kChunk]) { by_words(cols, mark); }, [] { return false; });
    }
  } else {
    walk_by_source<kLanes, ProductColumn>(
        a, b, has_row ? entries_of_row(a, row) : EntriesOfA{}, AllColumns{},
        [&](const ProductColumn(&entries)[kSegments], BySource) { by_columns(entries, mark); });
  }
  G::sync();
  int mine = 0, total = 0;
  for (int i = G::rank(); i < kSlots; i += kLanes) mine += __popc(bits[i]);
  G::exclusive_sum(mine, total, scratch);
  if (has_row && G::rank() == 0) profile.counts[row] = static_cast<std::uint32_t>(total);
}

/// Writes the number of words that have a bit (kNotKept if more than `most`), then for each its
/// number and its bits. By a warp or a block; returns this lane's share of the count of bits.
/// `scratch`: as exclusive_sum has it.
template <int kLanes>
__device__ int keep_pairs(const std::uint32_t* bits, int words, int most, std::uint32_t* to,
                          int* scratch) {
  using G = Group<kLanes>;
  const int lane = G::lane(), warp = G::rank() / 32;
  const int each = (words + kLanes - 1) / kLanes * 32;  // of a warp
  const int first = warp * each, last = min(first + each, words);
  int mine = 0, with_bits = 0, total = 0;
  for (int at = first + lane; at < last; at += 32) {
    mine += __popc(bits[at]);
    with_bits += bits[at] != 0 ? 1 : 0;
  }
  int before = __shfl_sync(kAllLanes, G::exclusive_sum(with_bits, total, scratch), 0);
  if (G::rank() == 0) {
    *to = total <= most ? static_cast<std::uint32_t>(total) : RowProfile::kNotKept;
  }
  std::uint32_t* const pairs = to + 1;
  for (int begin = first; total <= most && begin < last; begin += 32) {
    const int at = begin + lane;
    const std::uint32_t of_word = at < last ? bits[at] : 0;
    const unsigned are_kept = __ballot_sync(kAllLanes, of_word != 0);
    const int place = before + __popc(are_kept & ((1u << lane) - 1));
    before += __popc(are_kept);
    if (of_word != 0) {
      pairs[2 * place] = static_cast<std::uint32_t>(at);
      pairs[2 * place + 1] = of_word;
    }
  }
  return mine;
}

/// Sets the bits of a row's columns, or of those of a part, in the words of `range`. By a warp or a
/// block. Returns this lane's share of the products of a part.
template <int kLanes, PartKind kPart>
__device__ unsigned long long set_bits_of_row(const DeviceCsrView<float>& a,
                                              const DeviceCsrView<float>& b, const PartOfRow& range,
                                              std::uint32_t products_of_row, std::uint32_t* bits,
                                              Sources<kLanes, float>& sources) {
  using G = Group<kLanes>;
  const auto mark = [&](Index word, std::uint32_t of_word) {
    set_bits(bits + (word - range.first_word), of_word);
  };
  const auto mark_chunk = [&](const Index(&cols)[kChunk]) { by_words(cols, mark); };
  // A row with many more products than columns is full long before its last product.
  const auto is_full = [&] {
    bool all_set = true;
    for (int i = G::rank(); all_set && i < range.words; i += kLanes) {
      all_set = static_cast<volatile std::uint32_t*>(bits)[i] ==
                possible_bits(range.first_word + i, b.cols);
    }
    return G::all(all_set);
  };
  if constexpr (kPart != PartKind::whole_row) {
    const ColumnRange columns = {Offset{range.first_word} << kWordLog2,
                                 Offset{range.first_word + range.words} << kWordLog2};
    if (kPart == PartKind::one_of_few && has_many_short_sources(a, range.row, products_of_row)) {
      return walk_many_sources<kLanes>(
          a, b, range.row, columns, [&](Index col) { mark(col >> kWordLog2, 1u << (col & 31)); });
    }
    return walk_columns<kLanes>(a, b, range.row, columns, sources, mark_chunk, is_full);
  } else if constexpr (kLanes == 32) {
    // One warp is faster column by column: it has no contention that by_words would reduce.
    const EntriesOfA of_row = entries_of_row(a, range.row);
    walk_products<kLanes, ProductColumn>(
        a, b, of_row, AllColumns{}, suits_packing<kLanes>(products_of_row, of_row.count), &sources,
        [&](const ProductColumn(&entries)[kSegments], auto) { by_columns(entries, mark); });
  } else {
    walk_columns<kLanes>(a, b, range.row, AllColumns{}, sources, mark_chunk, is_full);
  }
  return 0;
}

/// Keeps a row's words for making if the profile has room for them. Returns this lane's share of
/// the count of bits. `scratch`: as exclusive_sum has it.
template <int kLanes>
__device__ int keep_bits(const std::uint32_t* bits, const PartOfRow& range,
                         const RowProfile& profile, std::uint32_t first_bits, int* scratch) {
  const bool is_kept = first_bits != RowProfile::kNotKept;
  if (is_kept && (first_bits & RowProfile::kInPairs) != 0) {
    const std::uint32_t most = BinRules::most_pairs(profile.products[range.row]) - 1;
    return keep_pairs<kLanes>(bits, range.words, static_cast<int>(most),
                              profile.bits + (first_bits & ~RowProfile::kInPairs), scratch);
  }
  int mine = 0;
  for (int i = Group<kLanes>::rank(); i < range.words; i += kLanes) {
    mine += __popc(bits[i]);
    if (is_kept) profile.bits[first_bits + i] = bits[i];
  }
  return mine;
}

template <int kLanes, int kThreads, PartKind kPart>
__global__ void __launch_bounds__(kThreads)
    count_by_bit_range(DeviceCsrView<float> a, DeviceCsrView<float> b, RowProfile profile,
                       BinRules rules, RowList list, RowParts parts, int room) {
  static_assert(kLanes % 32 == 0, "groups leave early, so they are whole warps");
  using G = Group<kLanes>;
  constexpr bool kIsPart = kPart != PartKind::whole_row;
  extern __shared__ __align__(16) std::uint32_t tables[];
  __shared__ int scratch[32];
  __shared__ Sources<kLanes, float> sources[kThreads / kLanes];
  const Offset item = Offset{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  if (item >= (kIsPart ? parts.count : list.count)) return;
  PartOfRow range;
  if constexpr (kIsPart) {
    range = part_of_row(profile, rules, parts, item);
  } else {
    const Index row = list.rows[item];
    range = {row, profile.first_word[row], profile.words[row]};
  }
  std::uint32_t* bits = tables + threadIdx.x / kLanes * room;
  for (int i = G::rank(); i < range.words; i += kLanes) bits[i] = 0;
  G::sync();
  [[maybe_unused]] const unsigned long long products = set_bits_of_row<kLanes, kPart>(
      a, b, range, profile.products[range.row], bits, sources[threadIdx.x / kLanes]);
  G::sync();
  const std::uint32_t first_bits = kIsPart ? RowProfile::kNotKept : profile.first_bits[range.row];
  const int mine = keep_bits<kLanes>(bits, range, profile, first_bits, scratch);
  int total = 0;
  G::exclusive_sum(mine, total, scratch);
  [[maybe_unused]] unsigned long long all_products = 0;
  if constexpr (kIsPart) G::exclusive_sum(products, all_products, sources[0].scratch);
  if (G::rank() != 0) return;
  if constexpr (kIsPart) {
    parts.counts[item] = static_cast<std::uint32_t>(total);
    parts.products[item] =
        all_products > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(all_products);
  } else {
    profile.counts[range.row] = static_cast<std::uint32_t>(total);
  }
}

template <int kLanes, int kSlots, int kThreads>
void launch_hash(const DeviceCsrView<float>& a, const DeviceCsrView<float>& b,
                 const RowProfile& profile, const RowList& list, cudaStream_t stream) {
  launch_rows<kThreads, kLanes>(count_by_hash<kLanes, kSlots, kThreads>, "count_by_hash",
                                list.count, kSlots * 8, stream, a, b, profile, list);
}

template <int kLanes, int kThreads, PartKind kPart>
void launch_bit_range(const DeviceCsrView<float>& a, const DeviceCsrView<float>& b,
                      const RowProfile& profile, const BinRules& rules, const RowList& list,
                      const RowParts& parts, int room, cudaStream_t stream) {
  constexpr bool kIsPart = kPart != PartKind::whole_row;
  launch_rows<kThreads, kLanes>(count_by_bit_range<kLanes, kThreads, kPart>, "count_by_bit_range",
                                kIsPart ? parts.count : list.count, room * 4, stream, a, b, profile,
                                rules, list, parts, room);
}

/// A block for each row.
void count_by_blocks(const DeviceCsrView<float>& a, const DeviceCsrView<float>& b,
                     const RowProfile& profile, const BinRules& rules, const RowList& list,
                     int room, cudaStream_t stream) {
  if (rules.waits_for_a_row) {
    launch_bit_range<512, 512, PartKind::whole_row>(a, b, profile, rules, list, {}, room, stream);
  } else {
    launch_bit_range<256, 256, PartKind::whole_row>(a, b, profile, rules, list, {}, room, stream);
  }
}

}  // namespace

void count_rows(CountBin bin, const DeviceCsrView<void>& any_a, const DeviceCsrView<void>& any_b,
                const RowProfile& profile, const BinRules& rules, const RowList& list,
                const RowParts& parts, cudaStream_t stream) {
  const DeviceCsrView<float> a = any_a.as<float>(), b = any_b.as<float>();  // values are not read
  switch (bin) {
    case CountBin::merge_4:
    case CountBin::merge_8: return count_rows_by_merging(bin, a, b, profile, list, stream);
    case CountBin::sort_512:
    case CountBin::sort_1024:
    case CountBin::sort_2048:
    case CountBin::sort_4096: return count_rows_by_sorting(bin, a, b, profile, list, stream);
    case CountBin::hash_64: return launch_hash<8, 64, 256>(a, b, profile, list, stream);
    case CountBin::hash_256: return launch_hash<16, 256, 256>(a, b, profile, list, stream);
    case CountBin::hash_512: return launch_hash<32, 512, 256>(a, b, profile, list, stream);
    case CountBin::hash_1024: return launch_hash<32, 1024, 256>(a, b, profile, list, stream);
    case CountBin::hash_4096: return launch_hash<128, 4096, 128>(a, b, profile, list, stream);
    case CountBin::hash_16384: return launch_hash<512, 16384, 512>(a, b, profile, list, stream);
    case CountBin::bit_range_warp:
      if (list.count >= rules.fewest_counted_by_warps) {
        return launch_bit_range<32, 256, PartKind::whole_row>(a, b, profile, rules, list, parts,
                                                              kWarpBitRangeWords, stream);
      }
      return count_by_blocks(a, b, profile, rules, list, kWarpBitRangeWords, stream);
    case CountBin::bit_range_block:
      return count_by_blocks(a, b, profile, rules, list, kMostBlockBitRangeWords, stream);
    case CountBin::parts:
      if (parts.count <= kFewParts) {
        return launch_bit_range<256, 256, PartKind::one_of_few>(a, b, profile, rules, list, parts,
                                                                parts.most_words, stream);
      }
      return launch_bit_range<256, 256, PartKind::one_of_many>(a, b, profile, rules, list, parts,
                                                               parts.most_words, stream);
    default: break;  // known already, or counted with the short rows
  }
}

}  // namespace csrkit::gpu
