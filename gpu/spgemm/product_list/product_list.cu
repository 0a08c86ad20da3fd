// New values for a known C: one pass over the list of its products.
// Owns     a block: one piece (neighbouring entries of C with at most 2048 products), or one entry
//          with more than 256 products
// Reads    from the list, coalesced and once: 2 bytes a product and 8 a run of products, or 8 a
//          product; and 2 bytes for an entry of several products. A's and B's values in the order
//          of A and B, so that lanes share sectors. A product goes to its place in shared memory;
//          an entry's only product goes to the entry's place. A thread adds up an entry;
//          neighbouring threads have entries of similar length, whose products are side by side: no
//          search, no atomics, no bank conflicts. The list is read from L2: a thread prefetched it
//          a wave of blocks earlier
// Launch   256 threads; pieces are equally long, whatever the rows are
// Against  sorting or looking up every product again, although the columns are known. Reading both
//          values in the order of C would fetch 32 bytes for each value of B. With a thread per
//          entry in C's order four of five lanes would wait for the longest entry

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"
#include "gpu/spgemm/product_list/product_list.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kItems = kMostOfAPiece / kThreads;
/// Blocks per multiprocessor: 40 registers hold all of a thread's loads in flight.
constexpr int kBlocks = 6;

/// kIsPlain: plus-times, and both matrices have values.
template <bool kIsPlain, class Value>
struct ListedValues {
  const Value* a;  // null: ones
  const Value* b;
  Value* c;
  Value alpha;
  Semiring semiring;

  __device__ Value from(const Value* matrix, std::uint32_t position) const {
    return kIsPlain || matrix != nullptr ? __ldg(matrix + position) : Value{1};
  }
  __device__ Value product(Value x, Value y) const {
    if constexpr (kIsPlain) return x * y;
    return add_product(semiring, empty_sum<Value>(semiring), x, y);
  }
  __device__ Value empty() const {
    if constexpr (kIsPlain) return Value{0};
    return empty_sum<Value>(semiring);
  }
  __device__ Value sum(Value one, Value other) const {
    if constexpr (kIsPlain) return one + other;
    return add_sums(semiring, one, other);
  }
};

/// The same address, made opaque to the compiler: it then stays in one register, and loads relative
/// to it need at most one more instruction.
template <class Item>
__device__ const Item* whole(const Item* address) {
  asm volatile("" : "+l"(address));
  return address;
}

/// A thread's products: the positions of their values in B and in A (counted from the piece's
/// first), and their places. Beyond the piece's end the last product is repeated.
struct Words {
  std::uint32_t of_b[kItems], of_a_and_place[kItems];
};

__device__ Words words_as_listed(const uint2* piece, std::uint32_t products) {
  Words words;
  piece = whole(piece);
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const uint2 word = __ldcs(piece + min(i * kThreads + threadIdx.x, products - 1));  // ListWord
    words.of_b[i] = word.x;
    words.of_a_and_place[i] = word.y;
  }
  return words;
}

/// The same from runs. Beyond the piece's end the places are meaningless but readable.
__device__ Words words_of_runs(const uint2* piece, std::uint32_t products) {
  const std::uint32_t up_to_lane = (2u << (threadIdx.x & 31)) - 1;
  const auto* const places =
      whole(reinterpret_cast<const std::uint16_t*>(piece + RunLayout::places) + threadIdx.x);
  const uint2* const runs = whole(piece + RunLayout(products).runs - 1);
  piece = whole(piece + threadIdx.x / 32);
  uint2 some[kItems];
  Words words;
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) some[i] = __ldcs(piece + i * kThreads / 32);
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    words.of_a_and_place[i] = __ldcs(places + i * kThreads);
  }
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {  // RunStarts, ListRun
    const uint2 run =
        __ldcs(runs + some[i].y + static_cast<std::uint32_t>(__popc(some[i].x & up_to_lane)));
    words.of_b[i] = run.x + min(i * kThreads + threadIdx.x, products - 1);
    words.of_a_and_place[i] = run.y << kPlaceBits | (words.of_a_and_place[i] & kPlaceMask);
  }
  return words;
}

/// The sum of an entry's products, in the order of A.
template <bool kIsPlain, class Value>
__device__ Value sum_of_slice(uint2 packed, const ListTail* tails, const Value* terms,
                              const ListedValues<kIsPlain, Value>& values) {
  const std::uint32_t lane = threadIdx.x & 31;
  const std::uint32_t width = packed.x >> 16 & 0xff, columns = packed.x >> 24;  // of ListSlice
  const std::uint32_t full = packed.y & 0xffff;
  const Value* at = terms + (packed.x & 0xffff) + min(lane, width - 1);
  Value sum = values.empty();
#pragma unroll 4
  for (std::uint32_t column = 0; column < full; ++column, at += width) {
    sum = values.sum(sum, *at);
  }
  tails += packed.y >> 16;
  terms += lane;
#pragma unroll 4
  for (std::uint32_t column = 0; column < columns; ++column) {
    const std::uint32_t tail = tails[column];
    if (lane < (tail & ((1u << kTailBits) - 1))) sum = values.sum(sum, terms[tail >> kTailBits]);
  }
  return sum;
}

/// The number of ranked entries of a piece, from its form.
__device__ std::uint32_t ranks_of(std::uint32_t form) {
  return form >> ListForm::ranks & ((kMostRanks << 1) - 1);
}

/// Prefetches [first, last) to L2, in units of 16 bytes.
__device__ void bring_to_l2(const void* first, const void* last) {
  const auto begin = reinterpret_cast<std::uintptr_t>(first) & ~std::uintptr_t{15};
  const auto end = reinterpret_cast<std::uintptr_t>(last) & ~std::uintptr_t{15};
  if (end > begin) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin),
                 "r"(static_cast<std::uint32_t>(end - begin)));
  }
}

/// Prefetches what the block of piece `number` will read by three dependent loads. Called one wave
/// of blocks ahead.
__device__ void bring_piece(const ListWord* words, const std::uint16_t* entries_by_rank,
                            const ListSlices* slices, const ListPiece* pieces,
                            std::uint32_t number) {
  constexpr std::uint32_t kUsualRun = 16;  // an estimate: the last runs may not be prefetched
  const uint4* const table = reinterpret_cast<const uint4*>(pieces) + number;
  const uint4 piece = __ldg(table), next = __ldg(table + 1);
  const std::uint32_t products = next.x - piece.x;
  const std::uint32_t read = (piece.w & ListForm::in_runs) != 0
                                 ? RunLayout(products).runs + products / kUsualRun
                                 : products;
  bring_to_l2(words + piece.x, words + piece.x + min(read, products));
  bring_to_l2(entries_by_rank + piece.y, entries_by_rank + piece.y + ranks_of(piece.w));
  bring_to_l2(slices + number, slices + number + 1);
}

template <bool kIsPlain, class Value>
__global__ void __launch_bounds__(kThreads, kBlocks)
    sum_pieces(const ListWord* __restrict__ words,
               const std::uint16_t* __restrict__ entries_by_rank,
               const ListSlices* __restrict__ all_slices, const ListPiece* __restrict__ pieces,
               ListedValues<kIsPlain, Value> values, std::uint32_t wave) {
  __shared__ Value sums[kMostPlaces + kThreads];
  __shared__ uint2 slices[kMostRanks / 32];
  __shared__ std::uint32_t tails[kMostOfAnEntry / 2];
  constexpr std::uint32_t kRankItems = kMostRanks / kThreads;
  const auto thread = static_cast<std::uint32_t>(threadIdx.x);
  const uint4* const table = reinterpret_cast<const uint4*>(pieces) + blockIdx.x;
  const uint4 piece = __ldg(table), next = __ldg(table + 1);  // as in ListPiece
  if (thread == kThreads - 1 && blockIdx.x + wave < gridDim.x) {
    bring_piece(words, entries_by_rank, all_slices, pieces, blockIdx.x + wave);
  }
  const std::uint32_t products = next.x - piece.x, entries = next.y - piece.y;
  if (products == 0) return;  // no entry begins in the last share
  const std::uint32_t ranked = ranks_of(piece.w);
  const uint2* const my_words = reinterpret_cast<const uint2*>(words) + piece.x;
  const Words my = (piece.w & ListForm::in_runs) != 0 ? words_of_runs(my_words, products)
                                                      : words_as_listed(my_words, products);
  const Value* const from_a = values.a != nullptr ? whole(values.a + piece.z) : nullptr;
  Value x[kItems], y[kItems];
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    y[i] = values.from(values.b, my.of_b[i]);
    x[i] = values.from(from_a, my.of_a_and_place[i] >> kPlaceBits);
  }
  const bool has_slice = thread * 32 < ranked, has_tails = thread * 2 < piece.w >> ListForm::tails;
  uint2 slice = {0, 0};
  std::uint32_t two_tails = 0, entry[kRankItems] = {};
  if (has_slice) {
    slice = __ldg(reinterpret_cast<const uint2*>(all_slices[blockIdx.x].of_ranks) + thread);
  }
  if (has_tails) {
    two_tails =
        __ldg(reinterpret_cast<const std::uint32_t*>(all_slices[blockIdx.x].tails) + thread);
  }
  const std::uint16_t* const my_entries = whole(entries_by_rank + piece.y + thread);
#pragma unroll
  for (std::uint32_t i = 0; i < kRankItems; ++i) {
    if (i * kThreads + thread < ranked) entry[i] = __ldg(my_entries + i * kThreads);
  }
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    // Beyond the piece's end: to a place that nobody reads.
    const std::uint32_t place =
        i * kThreads + thread < products ? my.of_a_and_place[i] & kPlaceMask : kMostPlaces + thread;
    sums[place] = values.product(x[i], y[i]);
  }
  if (has_slice) slices[thread] = slice;
  if (has_tails) tails[thread] = two_tails;
  __syncthreads();

  if (ranked > 0) {
#pragma unroll
    for (std::uint32_t i = 0; i < kRankItems; ++i) {
      if (i * kThreads + (thread & ~31u) >= ranked) break;
      const Value sum =
          sum_of_slice(slices[(i * kThreads + thread) / 32],
                       reinterpret_cast<const ListTail*>(tails), sums + entries, values);
      if (i * kThreads + thread < ranked) sums[entry[i]] = sum;
    }
    __syncthreads();
  }
  Value* const c = const_cast<Value*>(whole(values.c + piece.y + thread));
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    if (i * kThreads + thread < entries) {
      __stcs(c + i * kThreads, values.alpha * sums[i * kThreads + thread]);
    }
  }
}

/// A block per long entry.
template <bool kIsPlain, class Value>
__global__ void __launch_bounds__(kThreads)
    sum_long_entries(const ListWord* __restrict__ words, const LongEntry* __restrict__ entries,
                     ListedValues<kIsPlain, Value> values) {
  __shared__ Value of_warps[kThreads / 32];
  const LongEntry item = entries[blockIdx.x];
  words += item.first_product;
  Value sum = empty_sum<Value>(values.semiring);
  for (std::uint32_t at = threadIdx.x; at < item.products; at += kThreads) {
    const uint2 both = __ldcs(reinterpret_cast<const uint2*>(words + at));
    sum = values.sum(sum,
                     values.product(values.from(values.a, both.y), values.from(values.b, both.x)));
  }
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    sum = values.sum(sum, __shfl_xor_sync(kAllLanes, sum, distance));
  }
  if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kThreads / 32; ++warp) sum = values.sum(sum, of_warps[warp]);
  values.c[item.entry] = values.alpha * sum;
}

}  // namespace

template <class Value>
void ProductList::sum(const SpgemmOperands& op, Semiring semiring, const DeviceProduct& c,
                      cudaStream_t stream) const {
  const auto wave = static_cast<std::uint32_t>(current_multiprocessors() * kBlocks);
  const auto launch = [&](auto is_plain) {
    constexpr bool kIsPlain = decltype(is_plain)::value;
    const ListedValues<kIsPlain, Value> values = {
        static_cast<const Value*>(op.a.values), static_cast<const Value*>(op.b.values),
        reinterpret_cast<Value*>(c.values.data()), static_cast<Value>(op.alpha), semiring};
    if (piece_count_ > 0) {
      sum_pieces<kIsPlain, Value><<<static_cast<unsigned>(piece_count_), kThreads, 0, stream>>>(
          words_.data(), entries_.data(), slices_.data(), pieces_.data(), values, wave);
      CHECK_LAUNCH("sum_pieces", stream);
    }
    if (long_count_ > 0) {
      sum_long_entries<kIsPlain, Value>
          <<<static_cast<unsigned>(long_count_), kThreads, 0, stream>>>(
              words_.data() + in_pieces_, long_entries_.data(), values);
      CHECK_LAUNCH("sum_long_entries", stream);
    }
  };
  if (semiring == Semiring::plus_times && op.a.values != nullptr && op.b.values != nullptr) {
    launch(std::true_type{});
  } else {
    launch(std::false_type{});
  }
}

template void ProductList::sum<float>(const SpgemmOperands&, Semiring, const DeviceProduct&,
                                      cudaStream_t) const;
template void ProductList::sum<double>(const SpgemmOperands&, Semiring, const DeviceProduct&,
                                       cudaStream_t) const;

}  // namespace csrkit::gpu
