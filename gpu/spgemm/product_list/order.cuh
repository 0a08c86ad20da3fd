// Cuts products, in the order of C's entries, into pieces, and sorts each piece in the order of A
// and B.
#pragma once

#include <cstdint>
#include <cub/block/block_radix_sort.cuh>

#include "gpu/device/device_csr.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"
#include "gpu/spgemm/product_list/place.cuh"
#include "gpu/spgemm/product_list/product_list.h"
#include "gpu/spgemm/product_list/totals.h"

namespace csrkit::gpu::product_list {

constexpr int kItems = kMostOfAPiece / kThreads;

/// A thread per piece: it takes the entries that begin in its share of the products. One thread
/// more writes the end.
__global__ void __launch_bounds__(kThreads)
    cut_pieces(const std::uint32_t* starts, Offset entries, ListPiece* pieces, Offset count,
               std::uint32_t share_of_a_piece) {
  const Offset piece = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (piece > count) return;
  Offset first = 0, last = entries;
  if (piece == count) {
    first = entries;
  } else {
    const auto share = static_cast<std::uint32_t>(piece) * share_of_a_piece;
    while (first < last) {
      const Offset middle = (first + last) / 2;
      if (starts[middle] < share) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
  }
  pieces[piece] = {starts[first], static_cast<std::uint32_t>(first), 0, 0};
}

/// A block per piece: assigns places, and sorts words from the order of C's entries to the order of
/// A and B.
__global__ void __launch_bounds__(kThreads)
    order_piece(const std::uint32_t* starts, ListPiece* pieces, ListWord* words,
                std::uint16_t* entries_by_rank, ListSlices* all_slices, ListTotals* totals) {
  using Sort = cub::BlockRadixSort<unsigned long long, kThreads, kItems, std::uint16_t>;
  using SortEntries = cub::BlockRadixSort<std::uint16_t, kThreads, kItems, std::uint16_t>;
  constexpr int kSlices = kMostRanks / 32;
  __shared__ union {
    typename Sort::TempStorage sort;
    struct {
      std::uint32_t of_a[kMostOfAPiece];
      std::uint16_t entry_of[kMostOfAPiece];
      std::uint16_t starts[kMostOfAPiece + 1];
      std::uint16_t ranks[kMostOfAPiece];
      std::uint16_t length_of_rank[kMostOfAPiece];  // 0 if not ranked
    } list;
    unsigned long long keys[kMostOfAPiece];  // of products, sorted
  } shared;
  __shared__ typename SortEntries::TempStorage sort_entries;
  __shared__ ListSlices slices;
  __shared__ std::uint32_t scratch[32];
  __shared__ std::uint32_t first_of_a, ranked, runs;
  __shared__ RunStarts starts_of_runs[kMostOfAPiece / 32];
  const int thread = static_cast<int>(threadIdx.x);
  ListPiece& piece = pieces[blockIdx.x];
  const ListPiece& next = pieces[blockIdx.x + 1];
  const std::uint32_t first_product = piece.first_product, first_entry = piece.first_entry;
  const auto products = static_cast<int>(next.first_product - first_product);
  const auto entries = static_cast<int>(next.first_entry - first_entry);
  words += first_product;
  if (thread == 0) {
    first_of_a = UINT32_MAX;
    ranked = 0;
  }
  __syncthreads();

  auto& list = shared.list;
  for (int at = thread; at < products; at += kThreads) {
    const std::uint32_t of_a = words[at].of_a_and_place;
    list.of_a[at] = of_a;
    atomicMin(&first_of_a, of_a);
  }
  for (int entry = thread; entry <= entries; entry += kThreads) {
    list.starts[entry] = static_cast<std::uint16_t>(
        entry < entries ? starts[first_entry + static_cast<std::uint32_t>(entry)] - first_product
                        : static_cast<std::uint32_t>(products));
  }
  __syncthreads();
  std::uint16_t lengths[kItems], ids[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {  // contiguous per thread, so that the sort is stable
    const int entry = thread * kItems + i;
    const int begin = entry < entries ? list.starts[entry] : 0;
    const int end = entry < entries ? list.starts[entry + 1] : 0;
    for (int at = begin; at < end; ++at) list.entry_of[at] = static_cast<std::uint16_t>(entry);
    if (end > begin + 1) atomicAdd(&ranked, 1u);
    lengths[i] = static_cast<std::uint16_t>(entry < entries ? kMostOfAnEntry - (end - begin)
                                                            : kMostOfAnEntry + 1);
    ids[i] = static_cast<std::uint16_t>(entry);
  }
  constexpr int kLengthBits = log2_of(kMostOfAnEntry) + 1;
  SortEntries(sort_entries).Sort(lengths, ids, 0, kLengthBits);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int rank = thread * kItems + i;
    const int length = rank < entries ? kMostOfAnEntry - lengths[i] : 0;
    list.length_of_rank[rank] = static_cast<std::uint16_t>(length > 1 ? length : 0);
    if (length < 2) continue;
    list.ranks[ids[i]] = static_cast<std::uint16_t>(rank);
    entries_by_rank[first_entry + static_cast<std::uint32_t>(rank)] = ids[i];
  }
  __syncthreads();
  const std::uint16_t* const lengths_of_slice = list.length_of_rank + min(thread, kSlices - 1) * 32;
  std::uint32_t in_slice = 0, of_slice = 0;
  if (thread < kSlices) {
    while (in_slice < 32 && lengths_of_slice[in_slice] > 0) {
      of_slice += lengths_of_slice[in_slice++];
    }
  }
  const std::uint32_t full = in_slice > 0 ? lengths_of_slice[in_slice - 1] : 0;
  const std::uint32_t tails = in_slice > 0 ? lengths_of_slice[0] - full : 0;
  std::uint32_t total = 0, all_tails = 0;
  std::uint32_t place = Group<kThreads>::exclusive_sum<std::uint32_t>(of_slice, total, scratch);
  const std::uint32_t first_tail =
      Group<kThreads>::exclusive_sum<std::uint32_t>(tails, all_tails, scratch);
  if (thread < kSlices) {
    slices.of_ranks[thread] = {static_cast<std::uint16_t>(place),
                               static_cast<std::uint8_t>(in_slice),
                               static_cast<std::uint8_t>(tails), static_cast<std::uint16_t>(full),
                               static_cast<std::uint16_t>(first_tail)};
    place += full * in_slice;
    std::uint32_t in_column = in_slice;
    for (std::uint32_t tail = 0; tail < tails; ++tail) {
      while (lengths_of_slice[in_column - 1] <= full + tail) --in_column;
      slices.tails[first_tail + tail] = static_cast<ListTail>(place << kTailBits | in_column);
      place += in_column;
    }
  }
  __syncthreads();
  static_assert(sizeof(ListSlices) / sizeof(uint4) <= kThreads);
  if (thread < static_cast<int>(sizeof(ListSlices) / sizeof(uint4))) {
    reinterpret_cast<uint4*>(all_slices + blockIdx.x)[thread] =
        reinterpret_cast<const uint4*>(&slices)[thread];
  }

  unsigned long long keys[kItems];
  std::uint16_t places[kItems];
  bool is_too_wide = false;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int at = i * kThreads + thread;  // any order, as they are sorted next
    keys[i] = ~0ull;
    places[i] = 0;
    if (at >= products) continue;
    const std::uint32_t of_a = list.of_a[at];
    const int entry = list.entry_of[at];
    const int begin = list.starts[entry], end = list.starts[entry + 1];
    int column = 0;
    for (int other = begin; other < end; ++other) column += list.of_a[other] < of_a;
    const std::uint32_t distance = of_a - first_of_a;
    is_too_wide = is_too_wide || distance >= kWidestOfA;
    keys[i] = static_cast<unsigned long long>(distance) << 32 | words[at].of_b;
    places[i] = static_cast<std::uint16_t>(entry);
    if (end - begin < 2) continue;
    const int rank = list.ranks[entry], lane = rank % 32;
    const ListSlice& slice = slices.of_ranks[rank / 32];
    places[i] = static_cast<std::uint16_t>(
        entries + lane +
        (column < slice.full ? slice.first_place + column * slice.entries
                             : slices.tails[slice.first_tail + column - slice.full] >> kTailBits));
  }
  if (is_too_wide) totals->is_too_wide = 1;
  __syncthreads();
  Sort(shared.sort).SortBlockedToStriped(keys, places, 0, 64 - kPlaceBits);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) shared.keys[i * kThreads + thread] = keys[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int at = i * kThreads + thread;
    const bool is_start = at < products && (at == 0 || keys[i] != shared.keys[at - 1] + 1);
    const unsigned bits = __ballot_sync(kAllLanes, is_start);
    if ((thread & 31) == 0) starts_of_runs[at / 32].starts = bits;
  }
  __syncthreads();
  const bool has_bits = thread < kMostOfAPiece / 32;
  const auto of_bits =
      static_cast<std::uint32_t>(has_bits ? __popc(starts_of_runs[thread].starts) : 0);
  const std::uint32_t before =
      Group<kThreads>::exclusive_sum<std::uint32_t>(of_bits, total, scratch);
  if (has_bits) starts_of_runs[thread].before = before;
  if (thread == 0) runs = total;
  __syncthreads();
  const RunLayout layout(static_cast<std::uint32_t>(products));
  const bool in_runs = layout.runs + runs <= static_cast<std::uint32_t>(products);
  if (in_runs) {
    auto* const starts_in_words = reinterpret_cast<RunStarts*>(words);
    auto* const places_in_words = reinterpret_cast<std::uint16_t*>(words + layout.places);
    auto* const runs_in_words = reinterpret_cast<ListRun*>(words + layout.runs);
    if (thread < static_cast<int>(layout.places)) starts_in_words[thread] = starts_of_runs[thread];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int at = i * kThreads + thread;
      if (at >= products) continue;
      places_in_words[at] = places[i];
      const RunStarts some = starts_of_runs[at / 32];
      if ((some.starts >> (at & 31) & 1) == 0) continue;
      const auto run =
          some.before + static_cast<std::uint32_t>(__popc(some.starts & ((1u << (at & 31)) - 1)));
      runs_in_words[run] = {static_cast<std::uint32_t>(keys[i]) - static_cast<std::uint32_t>(at),
                            static_cast<std::uint32_t>(keys[i] >> 32)};
    }
  } else {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int at = i * kThreads + thread;
      if (at >= products) continue;
      words[at] = {static_cast<std::uint32_t>(keys[i]),
                   static_cast<std::uint32_t>(keys[i] >> 32) << kPlaceBits | places[i]};
    }
  }
  if (thread == 0) {
    piece.first_of_a = first_of_a;
    piece.form = all_tails << ListForm::tails | ranked << ListForm::ranks |
                 (in_runs ? ListForm::in_runs : 0);
  }
}

}  // namespace csrkit::gpu::product_list
