// Rows of C that are made while they are counted, in adaptive_rows: whether that is worth it, and
// copying them to C.
// Owns     8 to 32 lanes: one row to copy; a block: one row of the sample
// Reads    where the row is, and its entries, once; of a sampled row its sources' columns
// Launch   256 threads, for all rows of C; at most 256 blocks for the sample
// Against  counting first: a row is sorted once, and its entries move twice, which is less where
//          columns come several times

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/spgemm/adaptive_rows/numeric/staged_rows.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"

namespace csrkit::gpu {

namespace {

constexpr auto aligned = WorkspaceLayout::aligned;
constexpr int kThreads = 256;
constexpr int kMostSampledProducts = 1024;

/// A block per sampled row, which puts the row's columns into a table.
__global__ void __launch_bounds__(kThreads)
    count_sampled(DeviceCsrView<void> a, DeviceCsrView<void> b, BinTotals* totals) {
  constexpr int kSlots = 2 * kMostSampledProducts;
  constexpr Index kFree = -1;
  __shared__ Index table[kSlots];
  __shared__ unsigned long long products, entries;
  for (int i = static_cast<int>(threadIdx.x); i < kSlots; i += kThreads) table[i] = kFree;
  if (threadIdx.x == 0) products = entries = 0;
  __syncthreads();
  const auto row = static_cast<Index>(Offset{blockIdx.x} * a.rows / gridDim.x);
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  if (end - begin > kMostSampledProducts) return;  // too long, or most of its sources are empty
  unsigned long long of_thread = 0;
  for (Offset at = begin + threadIdx.x; at < end; at += kThreads) {
    const Index source = __ldg(a.col_indices + at);
    of_thread += static_cast<unsigned long long>(b.row_end(source) - b.row_begin(source));
  }
  atomicAdd(&products, of_thread);
  __syncthreads();
  if (products < kFewestToStage || products > kMostSampledProducts) return;
  of_thread = 0;
  for (Offset at = begin + threadIdx.x / 32; at < end; at += kThreads / 32) {
    const Index source = __ldg(a.col_indices + at);
    for (Offset i = b.row_begin(source) + threadIdx.x % 32; i < b.row_end(source); i += 32) {
      const Index col = __ldg(b.col_indices + i);
      unsigned slot = hash_slot<kSlots>(static_cast<unsigned>(col));
      Index found = atomicCAS(table + slot, kFree, col);
      while (found != kFree && found != col) {
        slot = (slot + 1) % kSlots;
        found = atomicCAS(table + slot, kFree, col);
      }
      of_thread += found == kFree;
    }
  }
  atomicAdd(&entries, of_thread);
  __syncthreads();
  if (threadIdx.x > 0) return;
  atomicAdd(&totals->sampled_products, products);
  atomicAdd(&totals->sampled_entries, entries);
}

template <int kLanes, class Value>
__global__ void __launch_bounds__(kThreads)
    copy_staged(MakeRows<Value> op, StagedRows<Value> staged) {
  const Offset row = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  if (row >= op.a.rows) return;
  const std::uint32_t place = op.profile.staged[row];
  if (place == RowProfile::kNotStaged) return;
  const Offset to = op.c.row_offsets[row];
  const auto entries = static_cast<std::uint32_t>(op.c.row_offsets[row + 1] - to);
  // Both loads of a lane are in flight before it stores.
  for (std::uint32_t i = threadIdx.x % kLanes; i < entries; i += 2 * kLanes) {
    const std::uint32_t next = i + kLanes;
    const bool has_next = next < entries;
    const Index col = __ldg(staged.cols + place + i);
    const Index next_col = has_next ? __ldg(staged.cols + place + next) : 0;
    const Value value = __ldg(staged.values + place + i);
    const Value next_value = has_next ? __ldg(staged.values + place + next) : Value{};
    op.c.col_indices[to + i] = col;
    op.c.values[to + i] = value;
    if (has_next) {
      op.c.col_indices[to + next] = next_col;
      op.c.values[to + next] = next_value;
    }
  }
}

}  // namespace

void sample_repeats(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b, BinTotals* totals,
                    cudaStream_t stream) {
  constexpr Index kMostSampled = 256;
  const auto blocks = static_cast<unsigned>(std::min(a.rows, kMostSampled));
  count_sampled<<<blocks, kThreads, 0, stream>>>(a, b, totals);
  CHECK_LAUNCH("count_sampled", stream);
}

Offset room_of_staged(const BinRules& rules, Offset products, ValueKind kind) {
  const Offset entry_bytes = Offset{sizeof(Index)} + static_cast<Offset>(size_of(kind));
  return std::min(2 * products / kLeastProductsOfTwoEntries, rules.most_staged_bytes / entry_bytes);
}

std::uint64_t staged_bytes(Index rows, Offset room, ValueKind kind) {
  const auto entries = static_cast<std::uint64_t>(room);
  return aligned(StagedRows<float>::kArenas * sizeof(unsigned long long)) +
         aligned(static_cast<std::uint64_t>(rows) * 4) +
         aligned(entries * static_cast<std::uint64_t>(size_of(kind))) +
         aligned(entries * sizeof(Index));
}

template <class Value>
StagedRows<Value> lay_out_staged(std::byte* bytes, Index rows, Offset room, RowProfile& profile,
                                 cudaStream_t stream) {
  const auto entries = static_cast<std::uint64_t>(room);
  const auto take = [&](std::uint64_t size) {
    std::byte* const mine = bytes;
    bytes += aligned(size);
    return mine;
  };
  StagedRows<Value> staged;
  const std::uint64_t used_bytes = StagedRows<Value>::kArenas * sizeof(unsigned long long);
  staged.used = reinterpret_cast<unsigned long long*>(take(used_bytes));
  profile.staged = reinterpret_cast<std::uint32_t*>(take(static_cast<std::uint64_t>(rows) * 4));
  staged.values = reinterpret_cast<Value*>(take(entries * sizeof(Value)));
  staged.cols = reinterpret_cast<Index*>(take(entries * sizeof(Index)));
  staged.room = static_cast<std::uint32_t>(entries / StagedRows<Value>::kArenas);
  CHECK_CUDA(cudaMemsetAsync(staged.used, 0, used_bytes, stream));
  CHECK_CUDA(cudaMemsetAsync(profile.staged, 0xff, static_cast<std::size_t>(rows) * 4, stream));
  return staged;
}

template <class Value>
void copy_staged_rows(const MakeRows<Value>& op, const StagedRows<Value>& staged, Offset products,
                      cudaStream_t stream) {
  const auto launch = [&](auto lanes) {
    constexpr Offset kRows = kThreads / decltype(lanes)::value;
    const auto blocks = static_cast<unsigned>((op.a.rows + kRows - 1) / kRows);
    copy_staged<decltype(lanes)::value><<<blocks, kThreads, 0, stream>>>(op, staged);
  };
  if (products <= 64) {
    launch(std::integral_constant<int, 8>{});
  } else if (products <= 256) {
    launch(std::integral_constant<int, 16>{});
  } else {
    launch(std::integral_constant<int, 32>{});
  }
  CHECK_LAUNCH("copy_staged", stream);
}

template StagedRows<float> lay_out_staged(std::byte*, Index, Offset, RowProfile&, cudaStream_t);
template StagedRows<double> lay_out_staged(std::byte*, Index, Offset, RowProfile&, cudaStream_t);
template void copy_staged_rows(const MakeRows<float>&, const StagedRows<float>&, Offset,
                               cudaStream_t);
template void copy_staged_rows(const MakeRows<double>&, const StagedRows<double>&, Offset,
                               cudaStream_t);

}  // namespace csrkit::gpu
