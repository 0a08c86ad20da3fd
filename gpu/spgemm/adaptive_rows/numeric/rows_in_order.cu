// Rows of C of at most 16 products, and copies of rows of B, counted and made in one pass in the
// order of A, in adaptive_rows.
// Owns     a thread: one row, whose products it sorts in registers; a warp: one that is a longer
//          row of B. A block makes the rows of its threads
// Reads    A's rows, and their products in B once; the counts of other rows
// Launch   128 threads. A block takes the sum of the entries before its own from the blocks before
//          it, so C's offsets are written on the way
// Needs    C with room for every product; narrow offsets of B; rows that are no wider than a warp
//          can sort
// Against  bins (tiny_rows.cu): rows are given a place in a list, counted together, given another
//          and made together, in seven launches that read them three times. Making longer rows
//          here, too, holds up their blocks: where one row in ten had up to 64 products, all took
//          1.6 times as long as with bins. Sums are in the order of A's columns, as there

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spgemm/adaptive_rows/numeric/rows_in_order.h"
#include "gpu/spgemm/adaptive_rows/numeric/tiny_rows.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/look_back.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 128;
/// Blocks of a multiprocessor. With more, a thread has too few registers to have all loads of its
/// row in flight: where rows of B are anywhere, products took 1.4 to 1.8 times as long.
template <class Value>
constexpr int kBlocks = sizeof(Value) == 4 ? 7 : 5;

/// This thread's row, and who makes it.
struct RowInOrder {
  TinyRow tiny;               // if it is one
  std::uint32_t entries = 0;  // else
  bool is_long_copy = false;
};

template <class Value>
__device__ RowInOrder row_of_thread(const MakeRows<Value>& op) {
  RowInOrder of;
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= op.a.rows) return of;
  const auto row = static_cast<Index>(at);
  const std::uint32_t products = op.profile.products[row];
  if (products <= kMostOfTiny) {
    of.tiny = {row, static_cast<int>(products)};
  } else {
    of.is_long_copy = op.a.row_end(row) - op.a.row_begin(row) == 1;
    of.entries = op.profile.counts[row];
  }
  return of;
}

/// Copies the warp's rows that are longer rows of B, row by row. `to`: where this thread's row
/// begins in C.
template <class Value>
__device__ void copy_long_rows(const MakeRows<Value>& op, bool is_long_copy, Offset to) {
  const Value nothing = empty_sum<Value>(op.semiring);
  const Offset first_row = Offset{blockIdx.x} * kThreads + (threadIdx.x & ~31u);
  unsigned left = __ballot_sync(kAllLanes, is_long_copy);
  for (; left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const Offset entry = op.a.row_begin(static_cast<Index>(first_row + owner));
    const Offset first = __shfl_sync(kAllLanes, to, owner);
    const Index source = __ldg(op.a.col_indices + entry);
    const Value x = value_of(op.a, entry);
    const Offset from = op.b.row_begin(source), length = op.b.row_end(source) - from;
#pragma unroll 4
    for (Offset i = threadIdx.x & 31; i < length; i += 32) {
      op.c.col_indices[first + i] = __ldg(op.b.col_indices + from + i);
      op.c.values[first + i] =
          op.alpha * add_product(op.semiring, nothing, x, value_of(op.b, from + i));
    }
  }
}

/// kIsPlusTimes: of the semiring, so that no product asks which it is.
template <class Value, bool kIsPlusTimes>
__global__ void __launch_bounds__(kThreads, kBlocks<Value>)
    make_in_order(MakeRows<Value> op, std::uint32_t* offsets, unsigned long long* states,
                  HostTotals* totals, Told<HostTotals>::Place host) {
  __shared__ TinySpace<Value, kMostOfTiny> spaces[kThreads / 32];
  __shared__ std::uint32_t scratch[32];
  __shared__ unsigned long long before_block;
  TinySpace<Value, kMostOfTiny>& space = spaces[threadIdx.x >> 5];
  const Semiring semiring = kIsPlusTimes ? Semiring::plus_times : op.semiring;
  const RowInOrder mine = row_of_thread(op);
  const TinyEntries made = __any_sync(kAllLanes, mine.tiny.products > kFewProducts)
                               ? make_tiny_entries<kMostOfTiny>(op, semiring, mine.tiny, space)
                               : make_tiny_entries<kFewProducts>(op, semiring, mine.tiny, space);
  const std::uint32_t entries = mine.entries + made.of_row;

  std::uint32_t of_block = 0;
  const std::uint32_t in_block =
      Group<kThreads>::exclusive_sum<std::uint32_t>(entries, of_block, scratch);
  if (threadIdx.x < 32) {
    const unsigned long long before = sum_of_blocks_before(states, of_block);
    if (threadIdx.x == 0) before_block = before;
  }
  __syncthreads();
  const Offset row = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const std::uint32_t to = static_cast<std::uint32_t>(before_block) + in_block;
  if (row < op.a.rows) offsets[row] = to;
  if (row + 1 == op.a.rows) {
    offsets[row + 1] = to + entries;
    totals->nnz = to + entries;
  }
  space.shifts[threadIdx.x & 31] = Offset{to} - Offset{made.before};
  write_tiny_entries(op, Structure::wanted, space, made.total);
  copy_long_rows(op, mine.is_long_copy, Offset{to});
  if (Offset{blockIdx.x} + 1 < gridDim.x) return;
  __syncthreads();
  host.tell(*totals);
}

}  // namespace

template <class Value>
void make_rows_in_order(const MakeRows<Value>& op, std::uint32_t* offsets,
                        unsigned long long* states, HostTotals* totals,
                        const Told<HostTotals>::Place& host, cudaStream_t stream) {
  const auto kernel = op.semiring == Semiring::plus_times ? make_in_order<Value, true>
                                                          : make_in_order<Value, false>;
  kernel<<<blocks_of(op.a.rows, kThreads), kThreads, 0, stream>>>(op, offsets, states, totals,
                                                                  host);
  CHECK_LAUNCH("make_in_order", stream);
}

template void make_rows_in_order(const MakeRows<float>&, std::uint32_t*, unsigned long long*,
                                 HostTotals*, const Told<HostTotals>::Place&, cudaStream_t);
template void make_rows_in_order(const MakeRows<double>&, std::uint32_t*, unsigned long long*,
                                 HostTotals*, const Told<HostTotals>::Place&, cudaStream_t);

}  // namespace csrkit::gpu
