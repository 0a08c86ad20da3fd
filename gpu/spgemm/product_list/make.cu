// The list of products of a known C.
// Owns     8 lanes: an entry of A, each of whose products is searched for in its row of C, once to
//          count and once to fill; a block: an entry of A with a long row of B, or an entry of C
//          with many products; then a block per piece, which sorts it
// Reads    B's columns twice, C's by binary search for every product, mostly from L2
// Launch   256 threads
// Needs    fewer than 2^32 products; C as a product of these operands
// Against  making the list while C is made: only those who ask for new values pay. Products of an
//          entry come in any order at first; their rank in A makes the order that of A again

#include <algorithm>
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/row_groups.cuh"
#include "gpu/spgemm/product_list/product_list.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kItems = kMostOfAPiece / kThreads;
constexpr int kLanes = 8;
constexpr int kSources = kThreads / kLanes;
constexpr Offset kLongRow = 256;  // entries of B from which a whole block goes through a row

struct ListTotals {
  unsigned long long long_products;
  std::uint32_t long_entries;
  std::uint32_t is_too_wide;
};

/// The row that the entry at `position` is in.
__device__ Index row_of(const DeviceCsrView<void>& matrix, Offset position) {
  Index first = 0, last = matrix.rows - 1;
  while (first < last) {
    const Index middle = first + (last - first + 1) / 2;
    if (matrix.row_begin(middle) <= position) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  return first;
}

/// Before: zero. After counting: the products of every entry. While filling: those that are
/// missing.
struct EntryCounts {
  std::uint32_t* products;
  const std::uint32_t* starts;  // of entries in pieces; a long entry has no room
  ListWord* words;
};

template <bool kFills>
__device__ void place_products(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                               const DeviceCsrView<void>& c, const EntryCounts& counts, Offset of_a,
                               int rank, int lanes) {
  const Index row = row_of(a, of_a);
  const Offset begin = c.row_begin(row), end = c.row_end(row);
  const Index source = __ldg(a.col_indices + of_a);
  const Offset last = b.row_end(source);
  for (Offset of_b = b.row_begin(source) + rank; of_b < last; of_b += lanes) {
    const Offset entry = lower_bound(c.col_indices, begin, end, __ldg(b.col_indices + of_b));
    if constexpr (kFills) {
      const std::uint32_t start = counts.starts[entry];
      if (counts.starts[entry + 1] == start) continue;
      const std::uint32_t place = start + atomicSub(counts.products + entry, 1u) - 1;
      counts.words[place] = {static_cast<std::uint32_t>(of_b), static_cast<std::uint32_t>(of_a)};
    } else {
      atomicAdd(counts.products + entry, 1u);
    }
  }
}

template <bool kFills>
__global__ void __launch_bounds__(kThreads)
    place_all_products(DeviceCsrView<void> a, DeviceCsrView<void> b, DeviceCsrView<void> c,
                       EntryCounts counts) {
  __shared__ int long_rows[kSources];
  __shared__ int long_count;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) long_count = 0;
  __syncthreads();
  const Offset first = Offset{blockIdx.x} * kSources;
  const int slot = thread / kLanes;
  if (first + slot < a.nnz) {
    const Index source = __ldg(a.col_indices + first + slot);
    if (b.row_end(source) - b.row_begin(source) > kLongRow) {
      if (thread % kLanes == 0) long_rows[atomicAdd(&long_count, 1)] = slot;
    } else {
      place_products<kFills>(a, b, c, counts, first + slot, thread % kLanes, kLanes);
    }
  }
  __syncthreads();
  for (int i = 0; i < long_count; ++i) {
    place_products<kFills>(a, b, c, counts, first + long_rows[i], thread, kThreads);
  }
}

/// Lists the long entries and takes their room among the pieces.
__global__ void __launch_bounds__(kThreads)
    find_long_entries(std::uint32_t* counts, Offset entries, LongEntry* found, ListTotals* totals) {
  const Offset entry = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (entry >= entries || counts[entry] <= static_cast<std::uint32_t>(kMostOfAnEntry)) return;
  const std::uint32_t products = counts[entry];
  counts[entry] = 0;
  const auto first = atomicAdd(&totals->long_products, static_cast<unsigned long long>(products));
  found[atomicAdd(&totals->long_entries, 1u)] = {static_cast<std::uint32_t>(entry),
                                                 static_cast<std::uint32_t>(first), products};
}

/// A block per long entry: which entries of A's row have one in that column, in their order.
__global__ void __launch_bounds__(kThreads)
    fill_long_entries(DeviceCsrView<void> a, DeviceCsrView<void> b, DeviceCsrView<void> c,
                      const LongEntry* entries, ListWord* words) {
  __shared__ std::uint32_t scratch[32];
  const LongEntry item = entries[blockIdx.x];
  const Index row = row_of(c, item.entry);
  const Index column = c.col_indices[item.entry];
  words += item.first_product;
  std::uint32_t before = 0;
  const Offset end = a.row_end(row);
  for (Offset first = a.row_begin(row); first < end; first += kThreads) {
    const Offset of_a = first + threadIdx.x;
    Offset of_b = 0;
    bool is_there = false;
    if (of_a < end) {
      const Index source = __ldg(a.col_indices + of_a);
      const Offset last = b.row_end(source);
      of_b = lower_bound(b.col_indices, b.row_begin(source), last, column);
      is_there = of_b < last && __ldg(b.col_indices + of_b) == column;
    }
    std::uint32_t total = 0;
    const std::uint32_t place =
        Group<kThreads>::exclusive_sum<std::uint32_t>(is_there ? 1u : 0u, total, scratch);
    if (is_there) {
      words[before + place] = {static_cast<std::uint32_t>(of_b), static_cast<std::uint32_t>(of_a)};
    }
    before += total;
  }
}

/// A thread per piece, and one for the end.
__global__ void __launch_bounds__(kThreads)
    cut_pieces(const std::uint32_t* starts, Offset entries, ListPiece* pieces, Offset count) {
  const Offset piece = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (piece > count) return;
  Offset first = 0, last = entries;
  if (piece == count) {
    first = entries;
  } else {
    const auto share = static_cast<std::uint32_t>(piece * kShareOfAPiece);
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

/// A block per piece: from words in the order of C's entries to places, and words in the order of A
/// and B.
__global__ void __launch_bounds__(kThreads)
    order_piece(const std::uint32_t* starts, ListPiece* pieces, ListWord* words,
                std::uint16_t* entries_by_rank, ListColumn* all_columns, ListTotals* totals) {
  using Sort = cub::BlockRadixSort<unsigned long long, kThreads, kItems, std::uint16_t>;
  using SortEntries = cub::BlockRadixSort<std::uint16_t, kThreads, kItems, std::uint16_t>;
  static_assert(kThreads == kMostOfAnEntry, "a thread per column");
  __shared__ union {
    typename Sort::TempStorage sort;
    struct {
      std::uint32_t of_a[kMostOfAPiece];
      std::uint16_t entry_of[kMostOfAPiece];
      std::uint16_t starts[kMostOfAPiece + 1];
      std::uint16_t ranks[kMostOfAPiece];
    } list;
  } shared;
  __shared__ typename SortEntries::TempStorage sort_entries;
  __shared__ std::uint32_t of_length[kMostOfAnEntry + 1];  // entries
  __shared__ ListColumn columns[kMostOfAnEntry];
  __shared__ std::uint32_t scratch[32];
  __shared__ std::uint32_t first_of_a, longest;
  const int thread = static_cast<int>(threadIdx.x);
  ListPiece& piece = pieces[blockIdx.x];
  const ListPiece& next = pieces[blockIdx.x + 1];
  const std::uint32_t first_product = piece.first_product, first_entry = piece.first_entry;
  const auto products = static_cast<int>(next.first_product - first_product);
  const auto entries = static_cast<int>(next.first_entry - first_entry);
  words += first_product;
  if (thread == 0) {
    first_of_a = UINT32_MAX;
    longest = of_length[kMostOfAnEntry] = 0;
  }
  of_length[thread] = 0;
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
  for (int i = 0; i < kItems; ++i) {  // neighbours: sorting is stable
    const int entry = thread * kItems + i;
    const int begin = entry < entries ? list.starts[entry] : 0;
    const int end = entry < entries ? list.starts[entry + 1] : 0;
    for (int at = begin; at < end; ++at) list.entry_of[at] = static_cast<std::uint16_t>(entry);
    if (end > begin) {
      atomicAdd(&of_length[end - begin], 1u);
      atomicMax(&longest, static_cast<std::uint32_t>(end - begin));
    }
    lengths[i] = static_cast<std::uint16_t>(entry < entries ? kMostOfAnEntry - (end - begin)
                                                            : kMostOfAnEntry + 1);
    ids[i] = static_cast<std::uint16_t>(entry);
  }
  constexpr int kLengthBits = log2_of(kMostOfAnEntry) + 1;
  SortEntries(sort_entries).Sort(lengths, ids, 0, kLengthBits);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int rank = thread * kItems + i;
    if (rank >= entries) continue;
    list.ranks[ids[i]] = static_cast<std::uint16_t>(rank);
    entries_by_rank[first_entry + static_cast<std::uint32_t>(rank)] = ids[i];
  }
  __syncthreads();
  // Those with more products than a column's number are in it.
  const int from_the_end = kMostOfAnEntry - 1 - thread;
  std::uint32_t total = 0;
  const std::uint32_t mine = of_length[kMostOfAnEntry - thread];
  const std::uint32_t in_column =
      mine + Group<kThreads>::exclusive_sum<std::uint32_t>(mine, total, scratch);
  columns[from_the_end].entries = static_cast<std::uint16_t>(in_column);
  __syncthreads();
  const std::uint32_t place =
      Group<kThreads>::exclusive_sum<std::uint32_t>(columns[thread].entries, total, scratch);
  columns[thread].first_place = static_cast<std::uint16_t>(place);
  all_columns[Offset{blockIdx.x} * kMostOfAnEntry + thread] = columns[thread];
  __syncthreads();

  unsigned long long keys[kItems];
  std::uint16_t places[kItems];
  bool is_too_wide = false;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int at = i * kThreads + thread;  // any order will do before sorting
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
    places[i] = static_cast<std::uint16_t>(columns[column].first_place + list.ranks[entry]);
  }
  if (is_too_wide) totals->is_too_wide = 1;
  __syncthreads();
  Sort(shared.sort).SortBlockedToStriped(keys, places, 0, 64 - kPlaceBits);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int at = i * kThreads + thread;
    if (at >= products) continue;
    words[at] = {static_cast<std::uint32_t>(keys[i]),
                 static_cast<std::uint32_t>(keys[i] >> 32) << kPlaceBits | places[i]};
  }
  if (thread == 0) {
    piece.first_of_a = first_of_a;
    piece.columns = longest;
  }
}

std::size_t sum_starts(void* workspace, std::size_t bytes, const std::uint32_t* counts,
                       std::uint32_t* starts, Offset entries, cudaStream_t stream) {
  CHECK_CUDA(cub::DeviceScan::ExclusiveScan(
      workspace, bytes, counts, starts, cuda::std::plus<std::uint32_t>{}, 0u, entries + 1, stream));
  return bytes;
}

/// Not below what the sum asks for: a state of 16 bytes per tile of 512 counts or more.
std::uint64_t sum_bytes_bound(Offset entries) {
  return static_cast<std::uint64_t>(entries) / 32 + (64u << 10);
}

unsigned blocks_of(Offset items, Offset per_block = kThreads) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

Offset most_long_entries(Offset products) { return products / (kMostOfAnEntry + 1); }

}  // namespace

std::uint64_t ProductList::making_bytes(Offset products, Offset output_nnz) {
  const auto listed = static_cast<std::uint64_t>(products);
  const auto entries = static_cast<std::uint64_t>(output_nnz);
  return listed * sizeof(ListWord) + entries * sizeof(std::uint16_t) +
         (listed / kShareOfAPiece + 2) * (sizeof(ListPiece) + kMostOfAnEntry * sizeof(ListColumn)) +
         static_cast<std::uint64_t>(most_long_entries(products)) * sizeof(LongEntry) +
         2 * (entries + 1) * sizeof(std::uint32_t) + sum_bytes_bound(output_nnz) +
         sizeof(ListTotals);
}

const char* ProductList::make(const SpgemmOperands& op, const DeviceProduct& c, Offset products,
                              DeviceMemory& memory) {
  *this = {};
  if (products == 0) return nullptr;
  if (products >= Offset{UINT32_MAX} || op.a.nnz >= Offset{UINT32_MAX} ||
      op.b.nnz >= Offset{UINT32_MAX}) {
    return "there are 2^32 products or entries, or more";
  }
  const cudaStream_t stream = memory.stream();
  const DeviceCsrView<void> view = c.view<void>();
  const DeviceBuffer<ListTotals> totals(memory, 1, "the totals of a list of products");
  DeviceBuffer<std::uint32_t> counts(memory, c.nnz + 1, "the products of C's entries");
  const DeviceBuffer<std::uint32_t> starts(memory, c.nnz + 1, "where C's products begin");
  words_ = DeviceBuffer<ListWord>(memory, products, "the list of C's products");
  entries_ = DeviceBuffer<std::uint16_t>(memory, c.nnz, "the entries of C by their products");
  long_entries_ =
      DeviceBuffer<LongEntry>(memory, most_long_entries(products), "the long entries of C");

  CHECK_CUDA(cudaMemsetAsync(totals.data(), 0, sizeof(ListTotals), stream));
  CHECK_CUDA(cudaMemsetAsync(counts.data(), 0, counts.size_bytes(), stream));
  place_all_products<false><<<blocks_of(op.a.nnz, kSources), kThreads, 0, stream>>>(
      op.a, op.b, view, {counts.data(), nullptr, nullptr});
  CHECK_LAUNCH("place_all_products", stream);
  find_long_entries<<<blocks_of(c.nnz), kThreads, 0, stream>>>(counts.data(), c.nnz,
                                                               long_entries_.data(), totals.data());
  CHECK_LAUNCH("find_long_entries", stream);
  {
    const std::size_t bytes = sum_starts(nullptr, 0, counts.data(), starts.data(), c.nnz, stream);
    const DeviceBuffer<std::byte> workspace(memory, static_cast<Offset>(bytes),
                                            "the sum of C's products");
    sum_starts(workspace.data(), bytes, counts.data(), starts.data(), c.nnz, stream);
  }
  ListTotals found = {};
  std::uint32_t in_pieces = 0;
  CHECK_CUDA(cudaMemcpyAsync(&found, totals.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaMemcpyAsync(&in_pieces, starts.data() + c.nnz, sizeof in_pieces,
                             cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  in_pieces_ = in_pieces;
  long_count_ = found.long_entries;
  piece_count_ = (in_pieces_ + kShareOfAPiece - 1) / kShareOfAPiece;
  if (long_count_ > 0) {
    fill_long_entries<<<static_cast<unsigned>(long_count_), kThreads, 0, stream>>>(
        op.a, op.b, view, long_entries_.data(), words_.data() + in_pieces_);
    CHECK_LAUNCH("fill_long_entries", stream);
  }
  if (piece_count_ > 0) {
    pieces_ = DeviceBuffer<ListPiece>(memory, piece_count_ + 1, "the pieces of C's products");
    columns_ = DeviceBuffer<ListColumn>(memory, piece_count_ * kMostOfAnEntry,
                                        "the lengths of C's entries");
    place_all_products<true><<<blocks_of(op.a.nnz, kSources), kThreads, 0, stream>>>(
        op.a, op.b, view, {counts.data(), starts.data(), words_.data()});
    CHECK_LAUNCH("place_all_products", stream);
    cut_pieces<<<blocks_of(piece_count_ + 1), kThreads, 0, stream>>>(starts.data(), c.nnz,
                                                                     pieces_.data(), piece_count_);
    CHECK_LAUNCH("cut_pieces", stream);
    order_piece<<<static_cast<unsigned>(piece_count_), kThreads, 0, stream>>>(
        starts.data(), pieces_.data(), words_.data(), entries_.data(), columns_.data(),
        totals.data());
    CHECK_LAUNCH("order_piece", stream);
  }
  CHECK_CUDA(cudaMemcpyAsync(&found, totals.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  if (found.is_too_wide != 0) {
    *this = {};
    return "entries of A that meet in C lie too far apart";
  }
  return nullptr;
}

}  // namespace csrkit::gpu
