// New values for a known C: one pass over the list of its products.
// Owns     a block: one piece, neighbouring entries of C with at most 2048 products; of an entry
//          with more than 256, a block of its own
// Reads    8 bytes a product from the list, or 2 and 8 for a run of them, and 2 an entry, coalesced
//          and once; A's and B's values
//          in the order of A and B, so that lanes share what they fetch. A product goes to its
//          place in shared memory; a thread adds up an entry, neighbours entries of like length, in
//          places side by side: no search, no atomics, no bank met twice
// Launch   256 threads; pieces are equally long, whatever the rows are
// Against  sorting or looking up every product anew: the columns are known. Reading both values in
//          the order of C fetches 32 bytes for each of B's. A thread per entry in C's order leaves
//          four of five lanes waiting for the longest

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/row_sums.cuh"
#include "gpu/spgemm/product_list/product_list.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kItems = kMostOfAPiece / kThreads;
/// Of a multiprocessor: with 48 registers a thread's loads are all on their way.
constexpr int kBlocks = 5;

/// kIsPlain: plus-times, and both matrices have values.
template <bool kIsPlain, class Value>
struct ListedValues {
  const Value* a;  // null: ones
  const Value* b;
  Value* c;
  Value alpha;
  Semiring semiring;

  __device__ Value term(const Value* from_a, std::uint32_t of_a, std::uint32_t of_b) const {
    if constexpr (kIsPlain) {
      return __ldg(from_a + of_a) * __ldg(b + of_b);
    } else {
      const Value x = a != nullptr ? __ldg(from_a + of_a) : Value{1};
      const Value y = b != nullptr ? __ldg(b + of_b) : Value{1};
      return add_product(semiring, empty_sum<Value>(semiring), x, y);
    }
  }
  __device__ Value sum(Value one, Value other) const {
    if constexpr (kIsPlain) return one + other;
    return add_sums(semiring, one, other);
  }
};

/// The sum of an entry, in the order of A; four products are on their way at a time.
template <bool kIsPlain, class Value>
__device__ Value sum_of_rank(std::uint32_t rank, const uint4* columns, std::uint32_t length,
                             const Value* terms, const ListedValues<kIsPlain, Value>& values) {
  const auto has = [rank](std::uint32_t column) { return rank < (column & 0xffffu); };
  const auto term = [terms, rank](bool is_there, std::uint32_t column) {
    return is_there ? terms[(column >> 16) + rank] : Value{};
  };
  uint4 there = columns[0];
  if (!has(there.x)) return Value{0};  // of a long entry, for now
  Value sum = terms[rank];
  // Says whether there may be more.
  const auto add = [&](bool has_x) {
    const bool has_y = has(there.y), has_z = has(there.z), has_w = has(there.w);
    const Value x = term(has_x, there.x), y = term(has_y, there.y);
    const Value z = term(has_z, there.z), w = term(has_w, there.w);
    if (has_x) sum = values.sum(sum, x);
    if (has_y) sum = values.sum(sum, y);
    if (has_z) sum = values.sum(sum, z);
    if (has_w) sum = values.sum(sum, w);
    return has_w;
  };
  bool goes_on = add(false);
  for (std::uint32_t quad = 1; goes_on && quad * 4 < length; ++quad) {
    there = columns[quad];
    goes_on = add(has(there.x));
  }
  return sum;
}

/// The words of a thread's products, from runs.
__device__ void words_of_runs(const uint2* piece, std::uint32_t products, uint2 (&words)[kItems]) {
  const RunLayout layout(products);
  const auto* const places = reinterpret_cast<const std::uint16_t*>(piece + layout.places);
  std::uint32_t run_and_place[kItems];
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const std::uint32_t at = min(i * kThreads + threadIdx.x, products - 1);
    const uint2 some = __ldcs(piece + at / 32);  // RunStarts
    const std::uint32_t before = some.x & ((2u << (at & 31)) - 1);
    run_and_place[i] = (some.y + static_cast<std::uint32_t>(__popc(before)) - 1) << 16 |
                       std::uint32_t{__ldcs(places + at)};
  }
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const std::uint32_t at = min(i * kThreads + threadIdx.x, products - 1);
    const uint2 run = __ldcs(piece + layout.runs + (run_and_place[i] >> 16));  // ListRun
    words[i] = {run.x + at, run.y << kPlaceBits | (run_and_place[i] & 0xffffu)};
  }
}

template <bool kIsPlain, class Value>
__global__ void __launch_bounds__(kThreads, kBlocks)
    sum_pieces(const ListWord* __restrict__ words,
               const std::uint16_t* __restrict__ entries_by_rank,
               const ListColumn* __restrict__ all_columns, const ListPiece* __restrict__ pieces,
               ListedValues<kIsPlain, Value> values) {
  __shared__ Value terms[kMostOfAPiece];
  __shared__ __align__(16) std::uint32_t columns[kMostOfAnEntry];
  const auto thread = static_cast<std::uint32_t>(threadIdx.x);
  const uint4* const table = reinterpret_cast<const uint4*>(pieces) + blockIdx.x;
  const uint4 piece = __ldg(table), next = __ldg(table + 1);  // as in ListPiece
  const std::uint32_t products = next.x - piece.x, entries = next.y - piece.y;
  const std::uint32_t length = piece.w & ~kInRuns;
  const uint2* const my_words = reinterpret_cast<const uint2*>(words) + piece.x;

  uint2 word[kItems];
  if ((piece.w & kInRuns) != 0) {
    words_of_runs(my_words, products, word);
  } else {
#pragma unroll
    for (std::uint32_t i = 0; i < kItems; ++i) {
      word[i] = __ldcs(my_words + min(i * kThreads + thread, products - 1));
    }
  }
  if (thread < (length + 3) / 4) {
    reinterpret_cast<uint4*>(columns)[thread] =
        __ldg(reinterpret_cast<const uint4*>(all_columns) +
              Offset{blockIdx.x} * (kMostOfAnEntry / 4) + thread);
  }
  const Value* const from_a = values.a + (values.a != nullptr ? piece.z : 0);
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const Value term = values.term(from_a, word[i].y >> kPlaceBits, word[i].x);
    if (i * kThreads + thread < products) terms[word[i].y & kPlaceMask] = term;
  }
  __syncthreads();

  const uint4* const quads = reinterpret_cast<const uint4*>(columns);
  Value* const c = values.c + piece.y;
  const std::uint32_t warp = thread & ~31u;
  if (length == 1 && entries == products) {  // ranks are the order of C
#pragma unroll
    for (std::uint32_t i = 0; i < kItems; ++i) {
      const std::uint32_t at = i * kThreads + thread;
      if (at < entries) __stcs(c + at, values.alpha * terms[at]);
    }
    return;
  }
  const std::uint16_t* const my_entries = entries_by_rank + piece.y;
  Value sums[kItems];
  std::uint32_t entry[kItems];
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    if (i * kThreads + warp >= entries) break;
    const std::uint32_t rank = i * kThreads + thread;
    entry[i] = rank < entries ? __ldg(my_entries + rank) : 0;
    sums[i] = sum_of_rank(rank, quads, length, terms, values);
  }
  __syncthreads();
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    if (i * kThreads + warp >= entries) break;
    if (i * kThreads + thread < entries) terms[entry[i]] = values.alpha * sums[i];
  }
  __syncthreads();
#pragma unroll
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const std::uint32_t at = i * kThreads + thread;
    if (i * kThreads + warp >= entries) break;
    if (at < entries) __stcs(c + at, terms[at]);
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
    sum = values.sum(sum, values.term(values.a, both.y, both.x));
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
  const auto launch = [&](auto is_plain) {
    constexpr bool kIsPlain = decltype(is_plain)::value;
    const ListedValues<kIsPlain, Value> values = {
        static_cast<const Value*>(op.a.values), static_cast<const Value*>(op.b.values),
        reinterpret_cast<Value*>(c.values.data()), static_cast<Value>(op.alpha), semiring};
    if (piece_count_ > 0) {
      sum_pieces<kIsPlain, Value><<<static_cast<unsigned>(piece_count_), kThreads, 0, stream>>>(
          words_.data(), entries_.data(), columns_.data(), pieces_.data(), values);
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
