// The first pass over the rows: counts the rows of each bin, and finds where each bin begins.

#include <cub/block/block_scan.cuh>

#include "gpu/device/cuda_check.h"
#include "gpu/device/launch_early.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_tasks/passes.cuh"

namespace csrkit::gpu::row_tasks {

namespace {

constexpr int kThreads = 512;

/// Turns counts into starts, also of the blocks' long tasks. By one block, as there are few
/// numbers. Other blocks wrote them, so they are read from L2.
__device__ void scan_counts(const Shape& shape, const BinArrays& bins, const RowTasks& out,
                            const Totals* before_all, Totals* totals, Totals* host_totals) {
  using LongScan = cub::BlockScan<Index, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  using Scan = cub::BlockScan<BinStart, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename LongScan::TempStorage long_scratch;
  __shared__ typename Scan::TempStorage scratch;
  __shared__ unsigned long long block_tasks;
  BinStart first = {0, 0, 0};
  if (before_all != nullptr) {
    first = {before_all->tasks_end, before_all->ordered_rows_end, before_all->copied_entries_end};
  }
  if (threadIdx.x == 0) block_tasks = 0;
  Index long_tasks = static_cast<Index>(first.tasks);
  const int all = shape.has_panels() ? 0 : kLongBins * bins.blocks;  // panels are never long
  for (int begin = 0; begin < all; begin += kThreads) {
    const int block = begin + static_cast<int>(threadIdx.x);
    Index before, total;
    LongScan(long_scratch)
        .ExclusiveSum(block < all ? __ldcg(bins.long_starts + block) : 0, before, total);
    if (block < all) bins.long_starts[block] = long_tasks + before;
    if (block == bins.blocks) block_tasks = static_cast<unsigned long long>(long_tasks + before);
    long_tasks += total;
    __syncthreads();  // before long_scratch is reused
  }
  BinStart carry = {long_tasks, first.ordered_rows, first.copied_entries};
  for (int begin = 0; begin < bins.keys; begin += kThreads) {
    const int key = begin + static_cast<int>(threadIdx.x);
    BinStart own = {0, 0, 0};
    if (key < bins.keys) {
      const Offset rows = __ldcg(bins.counts + key);
      const int bin = kBins - 1 - key % kBins;
      own = {whole_warps(rows), 0, 0};
      if (bin <= shape.longest_in_strips) {
        const Index per_strip = rows_per_strip(bin, shape.strip_entries);
        own = {whole_warps((rows + per_strip - 1) / per_strip), rows, rows * bin};
      }
    }
    BinStart before, total;
    Scan(scratch).ExclusiveScan(
        own, before, BinStart{0, 0, 0}, [](const BinStart& a, const BinStart& b) { return a + b; },
        total);
    if (key < bins.keys) bins.starts[key] = carry + before;
    carry = carry + total;
    __syncthreads();  // before scratch is reused
  }
  if (threadIdx.x > 0) return;
  Totals found;
  found.parts = __ldcg(&totals->parts);
  found.counters = __ldcg(&totals->counters);
  const auto behind_first = [&](Offset end) {
    return static_cast<unsigned long long>(end - first.tasks);
  };
  found.block_tasks = behind_first(static_cast<Offset>(block_tasks));
  found.long_tasks = behind_first(long_tasks);
  found.tasks = behind_first(carry.tasks);
  found.tasks_end = carry.tasks;
  found.ordered_rows_end = carry.ordered_rows;
  found.copied_entries_end = carry.copied_entries;
  *totals = found;
  if (host_totals != nullptr) *host_totals = found;
  const auto parts = static_cast<Offset>(found.parts);
  for (Offset gap = parts + 1; gap <= whole_warps(parts); ++gap) {
    out.tasks[shape.first_row_task - gap] = {0, 0, 0};
  }
}

// Counts rows per (range of rows, bin), and the tasks of long rows. The rows of a block are in one
// range, because rows_per_block divides it. The block that finishes last turns the counts into
// starts.
__global__ void __launch_bounds__(kThreads)
    count_rows(Shape shape, BinArrays bins, RowTasks out, Offset counters, Progress* progress,
               const Totals* before, Totals* totals, Totals* host_totals) {
  __shared__ Index local[kAllBins];
  __shared__ unsigned long long local_parts, local_counters;
  __shared__ bool is_last;
  if (threadIdx.x < kAllBins) local[threadIdx.x] = 0;
  if (threadIdx.x == 0) local_parts = local_counters = 0;
  wait_for_kernel_before();
  let_next_kernel_begin();
  __syncthreads();
  const Index first = static_cast<Index>(blockIdx.x) * shape.rows_per_block;
  const int range_key = first / shape.range_rows * kBins;
  unsigned own_parts = 0, own_counters = 0;
  for (int i = static_cast<int>(threadIdx.x); i < shape.rows_per_block; i += kThreads) {
    if (first + Offset{i} >= shape.rows) break;
    const Offset length = shape.length_of(first + i);
    if (!shape.is_task(length)) continue;
    const int bin = bin_key_of(shape, length);
    atomicAdd(&local[bin], tasks_of(shape, bin, length));
    if (length <= longest_whole(shape.part_entries)) continue;
    const auto parts = static_cast<Index>(parts_of(length, shape.part_entries));
    own_counters += static_cast<unsigned>(groups_of(parts) + 1);
    if (bin < kBins) own_parts += static_cast<unsigned>(parts - 1);
  }
  // One atomic a warp, because nearly all panels may be cut. A row has at most 2^25 parts.
  own_parts = __reduce_add_sync(kAllLanes, own_parts);
  own_counters = __reduce_add_sync(kAllLanes, own_counters);
  if (own_counters > 0 && threadIdx.x % kWarpLanes == 0) {
    atomicAdd(&local_parts, static_cast<unsigned long long>(own_parts));
    atomicAdd(&local_counters, static_cast<unsigned long long>(own_counters));
  }
  for (Offset i = Offset{blockIdx.x} * kThreads + threadIdx.x; i < counters;
       i += Offset{gridDim.x} * kThreads) {
    out.counters[i] = 0;
  }
  __syncthreads();
  if (threadIdx.x >= kBins && threadIdx.x < kAllBins) {
    bins.long_starts[(threadIdx.x - kBins) * gridDim.x + blockIdx.x] = local[threadIdx.x];
  }
  if (threadIdx.x < kBins && local[threadIdx.x] > 0) {
    atomicAdd(&bins.counts[range_key + threadIdx.x], local[threadIdx.x]);
  }
  if (threadIdx.x == 0 && local_counters > 0) {
    atomicAdd(&totals->counters, local_counters);
    atomicAdd(&totals->parts, local_parts);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&progress->blocks_counted, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  scan_counts(shape, bins, out, before, totals, host_totals);
}

}  // namespace

void count_and_scan(const Shape& shape, const BinArrays& bins, const RowTasks& out, Offset counters,
                    Progress* progress, const Totals* before, Totals* totals, Totals* host_totals,
                    cudaStream_t stream) {
  launch_early(count_rows, static_cast<unsigned>(bins.blocks), kThreads, 0, stream, shape, bins,
               out, counters, progress, before, totals, host_totals);
  CHECK_LAUNCH("count_rows", stream);
}

}  // namespace csrkit::gpu::row_tasks
