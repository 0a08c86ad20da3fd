// Small products in one pass: rows are made in a buffer, in any order; a second kernel moves them
// to their places in C.
// Owns     a warp: one row of C of at most 256 products, sorted in registers; it reserves room once
//          it knows its number of entries. Then a block: 32 rows, copied to their places
// Reads    A's row twice, the ends of B's rows twice, B's entries once; C's entries once more
// Launch   128 threads, then 256; nothing between them comes to the host
// Needs    columns of B that fit 32 bits together with the number of a product; BinRules::is_small
// Against  the phases of adaptive_rows: ten launches and two waits, 80 of 87 us for a matrix of
//          4,096 rows. The room of a row in the buffer differs from run to run; its entries and
//          their places in C do not

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/spgemm/adaptive_rows/numeric/row_sort_make.cuh"
#include "gpu/spgemm/small_product/small_product.h"

namespace csrkit::gpu {

namespace {

constexpr int kMakeThreads = 128;
constexpr int kRowsOfABlock = kMakeThreads / 32;
constexpr int kCloseThreads = 256;
constexpr int kGroup = 32;  // rows of a block of close_gaps
constexpr auto aligned = WorkspaceLayout::aligned;
using LongestRow = SortShape<32, kMostOfSmallRow / 32>;

Offset groups_of(Index rows) { return (Offset{rows} + kGroup - 1) / kGroup; }

/// Zero at first.
struct SmallTotals {
  unsigned long long used;  // entries of the buffer that are reserved
  std::uint32_t is_too_big;
};

/// The arrays that the two kernels share.
struct SmallWork {
  SmallTotals* totals;
  std::uint32_t* of_groups;  // entries of C in each group of rows
  std::uint32_t* counts;     // entries of each row
  std::uint32_t* places;     // where each row begins in the buffer
  Index* col_indices;
  void* values;
  Offset room;

  static std::uint64_t zero_bytes(Index rows) {
    return aligned(sizeof(SmallTotals)) + aligned(static_cast<std::uint64_t>(groups_of(rows)) * 4);
  }
  static std::uint64_t bytes(Index rows, Offset room, std::uint64_t value_bytes) {
    return zero_bytes(rows) + 2 * aligned(static_cast<std::uint64_t>(rows) * 4) +
           aligned(static_cast<std::uint64_t>(room) * 4) +
           aligned(static_cast<std::uint64_t>(room) * value_bytes);
  }
  SmallWork(std::byte* next, Index rows, Offset room_) : room(room_) {
    const auto take = [&](std::uint64_t size) {
      std::byte* const mine = next;
      next += aligned(size);
      return mine;
    };
    const auto row_bytes = static_cast<std::uint64_t>(rows) * 4;
    totals = reinterpret_cast<SmallTotals*>(take(sizeof(SmallTotals)));
    of_groups =
        reinterpret_cast<std::uint32_t*>(take(static_cast<std::uint64_t>(groups_of(rows)) * 4));
    counts = reinterpret_cast<std::uint32_t*>(take(row_bytes));
    places = reinterpret_cast<std::uint32_t*>(take(row_bytes));
    col_indices = reinterpret_cast<Index*>(take(static_cast<std::uint64_t>(room) * 4));
    values = next;
  }
};

/// op.c is the buffer.
template <class Value>
__global__ void __launch_bounds__(kMakeThreads)
    make_small_rows(MakeRows<Value> op, SmallWork work) {
  __shared__ SortedRow<Value, LongestRow> spaces[kRowsOfABlock];
  const Index row =
      static_cast<Index>(blockIdx.x) * kRowsOfABlock + static_cast<Index>(threadIdx.x / 32);
  if (row >= op.a.rows) return;
  const int lane = static_cast<int>(threadIdx.x & 31);
  // Another row has found that the product is too big: the pass is useless.
  const bool is_too_big =
      *static_cast<const volatile std::uint32_t*>(&work.totals->is_too_big) != 0;
  unsigned long long products = 0;
  const Offset begin = op.a.row_begin(row), end = op.a.row_end(row);
  if (__any_sync(kAllLanes, static_cast<int>(is_too_big)) != 0) return;
  for (Offset at = begin + lane; at < end; at += 32) {
    const Index source = __ldg(op.a.col_indices + at);
    products += static_cast<unsigned long long>(op.b.row_end(source) - op.b.row_begin(source));
  }
  for (int distance = 1; distance < 32; distance *= 2) {
    products += __shfl_xor_sync(kAllLanes, products, distance);
  }
  if (products > kMostOfSmallRow || products == 0) {
    if (lane == 0) {
      work.counts[row] = 0;
      if (products > 0) work.totals->is_too_big = 1;
    }
    return;
  }
  const auto place = [&](std::uint32_t entries) {
    unsigned long long to = 0;
    if (lane == 0) {
      to = atomicAdd(&work.totals->used, static_cast<unsigned long long>(entries));
      work.counts[row] = entries;
      work.places[row] = static_cast<std::uint32_t>(to);
      atomicAdd(work.of_groups + row / kGroup, entries);
      if (to + entries > static_cast<unsigned long long>(work.room)) work.totals->is_too_big = 1;
    }
    to = __shfl_sync(kAllLanes, to, 0);
    return to + entries > static_cast<unsigned long long>(work.room) ? Offset{-1}
                                                                     : static_cast<Offset>(to);
  };
  auto& space = spaces[threadIdx.x / 32];
  const SortItem item = {true, row, 0, 0};
  const std::uint32_t listed =
      list_sources<LongestRow, PartKind::whole_row>(op.a, op.b, item, space.sources, space.scratch);
  constexpr Structure kWanted = Structure::wanted;
  if (listed <= 32) {
    make_listed<SortShape<32, 1>, false>(op, kWanted, item, listed, space, place);
  } else if (listed <= 64) {
    make_listed<SortShape<32, 2>, false>(op, kWanted, item, listed, space, place);
  } else if (listed <= 128) {
    make_listed<SortShape<32, 4>, false>(op, kWanted, item, listed, space, place);
  } else {
    make_listed<LongestRow, false>(op, kWanted, item, listed, space, place);
  }
}

template <class Value>
__global__ void __launch_bounds__(kCloseThreads)
    close_gaps(Index rows, SmallWork work, std::uint32_t* row_offsets, Index* col_indices,
               Value* values, SmallResult* result) {
  __shared__ std::uint32_t scratch[32];
  if (work.totals->is_too_big != 0) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *result = {work.totals->used, 1};
    return;
  }
  std::uint32_t before = 0, of_groups = 0;
  for (unsigned group = threadIdx.x; group < blockIdx.x; group += kCloseThreads) {
    before += work.of_groups[group];
  }
  Group<kCloseThreads>::exclusive_sum<std::uint32_t>(before, of_groups, scratch);
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x / 32);
  const Offset first = Offset{blockIdx.x} * kGroup;
  const bool has_row = first + lane < rows;
  const std::uint32_t count = has_row ? work.counts[first + lane] : 0;
  const std::uint32_t from = count > 0 ? work.places[first + lane] : 0;
  std::uint32_t total = 0;
  const std::uint32_t to =
      of_groups + Group<32>::exclusive_sum<std::uint32_t>(count, total, nullptr);
  if (warp == 0) {
    if (has_row) row_offsets[first + lane] = to;
    if (lane == 0 && first + kGroup >= rows) {
      row_offsets[rows] = of_groups + total;
      *result = {of_groups + total, 0};
    }
  }
  const Value* const made = static_cast<const Value*>(work.values);
  for (int i = warp; i < kGroup; i += kCloseThreads / 32) {
    const std::uint32_t entries = __shfl_sync(kAllLanes, count, i);
    const std::uint32_t source = __shfl_sync(kAllLanes, from, i);
    const std::uint32_t target = __shfl_sync(kAllLanes, to, i);
    for (std::uint32_t entry = static_cast<std::uint32_t>(lane); entry < entries; entry += 32) {
      col_indices[target + entry] = work.col_indices[source + entry];
      values[target + entry] = made[source + entry];
    }
  }
}

}  // namespace

Offset room_of_small(Index rows, Index cols, Offset a_nnz) {
  return std::min(kRoomPerEntry * a_nnz, Offset{rows} * Offset{cols});
}

std::uint64_t small_product_bytes(Index rows, Index cols, Offset a_nnz, ValueKind kind) {
  const Offset room = room_of_small(rows, cols, a_nnz);
  return SmallWork::bytes(rows, room, static_cast<std::uint64_t>(size_of(kind))) +
         csr_bytes(rows, room, kind);
}

template <class Value>
void make_small_product(const SpgemmOperands& op, Semiring semiring, DeviceMemory& memory,
                        DeviceProduct& c, SmallResult* result) {
  const cudaStream_t stream = memory.stream();
  const Offset room = room_of_small(c.rows, c.cols, op.a.nnz);
  const DeviceBuffer<std::byte> bytes(
      memory, static_cast<Offset>(SmallWork::bytes(c.rows, room, sizeof(Value))),
      "the rows of a small product");
  const SmallWork work(bytes.data(), c.rows, room);
  CHECK_CUDA(cudaMemsetAsync(bytes.data(), 0, SmallWork::zero_bytes(c.rows), stream));
  c.narrow_offsets = DeviceBuffer<std::uint32_t>(memory, Offset{c.rows} + 1, "the rows of C");
  c.allocate_entries(memory, room);
  const MakeRows<Value> make = {op.a.as<Value>(),
                                op.b.as<Value>(),
                                {{}, work.col_indices, static_cast<Value*>(work.values)},
                                {},
                                static_cast<Value>(op.alpha),
                                semiring};
  const auto blocks = static_cast<unsigned>((Offset{c.rows} + kRowsOfABlock - 1) / kRowsOfABlock);
  make_small_rows<<<blocks, kMakeThreads, 0, stream>>>(make, work);
  CHECK_LAUNCH("make_small_rows", stream);
  close_gaps<<<static_cast<unsigned>(groups_of(c.rows)), kCloseThreads, 0, stream>>>(
      c.rows, work, c.narrow_offsets.data(), c.col_indices.data(),
      reinterpret_cast<Value*>(c.values.data()), result);
  CHECK_LAUNCH("close_gaps", stream);
}

template void make_small_product<float>(const SpgemmOperands&, Semiring, DeviceMemory&,
                                        DeviceProduct&, SmallResult*);
template void make_small_product<double>(const SpgemmOperands&, Semiring, DeviceMemory&,
                                         DeviceProduct&, SmallResult*);

}  // namespace csrkit::gpu
