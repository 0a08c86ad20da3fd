// The lists of adaptive_rows: the rows of every bin, and the parts of rows that are cut.
// Owns     a lane: one row, or the parts of one; a warp: the parts of a row that are added up
// Reads    a byte per row, or the profile of the rows that are cut
// Launch   256 threads
// Against  sorting rows by bin: here blocks reserve places by atomics, and neighbouring rows stay
//          neighbours

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/profile.h"
#include "gpu/spgemm/adaptive_rows/row_groups.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// Products from which a row comes first in its bin: started last, it would run alone at the end.
__device__ unsigned long long most_of_other_rows(unsigned long long longest) {
  constexpr unsigned long long kFew = 4096, kOfLongest = 4;
  return longest > kFew * kOfLongest ? longest / kOfLongest : UINT32_MAX;
}

/// Writes the list of every bin: long rows from its start on, other rows from its end on, block by
/// block.
__global__ void __launch_bounds__(kThreads)
    list_bin_rows(Index rows, RowProfile profile, const BinTotals* of_profile, int sort_16,
                  BinTotals* totals, Index* list, Told<HostTotals>::Place host) {
  // Bin 0 has no list: its places are those of rows with few products in sort_16.
  __shared__ std::uint32_t of_warps[kWarps][kMostBins];
  __shared__ std::uint32_t starts[kMostBins], of_others[kMostBins];
  if (blockIdx.x == 0) host.tell(*totals);
  const int warp = static_cast<int>(threadIdx.x >> 5);
  const unsigned lane = threadIdx.x & 31;
  const Offset row = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const int bin = row < rows ? profile.bin[row] : 0;
  const unsigned long long most = most_of_other_rows(of_profile->longest);
  const bool is_long = bin != 0 && most < UINT32_MAX && profile.products[row] > most;
  const bool has_few = bin == sort_16 && profile.products[row] <= std::uint32_t{kFewProducts};
  of_warps[warp][lane] = 0;
  __syncwarp();
  const unsigned mates = __match_any_sync(kAllLanes, is_long   ? bin + kMostBins
                                                     : has_few ? 2 * kMostBins
                                                               : bin);
  const unsigned before = static_cast<unsigned>(__popc(mates & ((1u << lane) - 1)));
  std::uint32_t first = 0;  // of long rows
  if (before == 0) {
    const auto count = static_cast<unsigned>(__popc(mates));
    if (is_long) {
      first = atomicAdd(&totals->placed_first[bin], count);
    } else if (bin != 0) {
      of_warps[warp][has_few ? 0 : bin] = count;
    }
  }
  first = __shfl_sync(kAllLanes, first, __ffs(static_cast<int>(mates)) - 1);
  __syncthreads();
  if (warp == 0) {  // lane = bin
    const std::uint32_t in_bin = lane == 0 ? 0 : totals->rows[lane];
    std::uint32_t sum = in_bin;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t other = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum += other;
    }
    std::uint32_t of_block = 0;
    for (int w = 0; w < kWarps; ++w) {
      const std::uint32_t of_warp = of_warps[w][lane];
      of_warps[w][lane] = of_block;
      of_block += of_warp;
    }
    std::uint32_t place = sum;
    if (lane > 0 && of_block > 0) place -= atomicAdd(&totals->placed[lane], of_block) + of_block;
    if (lane == 0 && of_block > 0) place = atomicAdd(&totals->placed_first[sort_16], of_block);
    starts[lane] = sum - in_bin;
    of_others[lane] = place;
  }
  __syncthreads();
  if (bin == 0) return;
  const std::uint32_t start = is_long   ? starts[bin] + first
                              : has_few ? starts[bin] + of_others[0] + of_warps[warp][0]
                                        : of_others[bin] + of_warps[warp][bin];
  list[start + before] = static_cast<Index>(row);
}

/// A lane per row.
__global__ void __launch_bounds__(kThreads)
    list_row_parts(RowList list, RowProfile profile, BinRules rules, RowParts parts,
                   BinTotals* totals) {
  const Offset at = Offset{blockIdx.x} * kThreads + threadIdx.x;
  Index row = 0;
  unsigned long long count = 0, total = 0, first = 0;
  if (at < list.count) {
    row = list.rows[at];
    const auto words = static_cast<std::uint32_t>(profile.words[row]);
    count = (words - 1) / rules.part_words(profile.products[row], words) + 1;
  }
  const unsigned long long before =
      Group<32>::exclusive_sum<unsigned long long>(count, total, nullptr);
  if ((threadIdx.x & 31) == 0 && total > 0) first = atomicAdd(&totals->parts_placed, total);
  first = __shfl_sync(kAllLanes, first, 0) + before;
  for (unsigned long long i = 0; i < count; ++i) {
    parts.rows[first + i] = row;
    parts.numbers[first + i] = static_cast<std::uint32_t>(i);
  }
}

/// A warp per part; the warp of a row's first part sums up the row.
__global__ void __launch_bounds__(kThreads) sum_up_parts(RowParts parts, RowProfile profile) {
  const Offset first = (Offset{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (first >= parts.count || parts.numbers[first] != 0) return;
  const Index row = parts.rows[first];
  std::uint32_t before = 0;
  for (Offset begin = first; begin < parts.count && parts.rows[begin] == row; begin += 32) {
    const Offset at = begin + (threadIdx.x & 31);
    const bool is_there = at < parts.count && parts.rows[at] == row;
    std::uint32_t total = 0;
    const std::uint32_t sum =
        Group<32>::exclusive_sum<std::uint32_t>(is_there ? parts.counts[at] : 0u, total, nullptr);
    if (is_there) parts.starts[at] = before + sum;
    before += total;
  }
  if ((threadIdx.x & 31) == 0) profile.counts[row] = before;
}

}  // namespace

void list_bins(Index rows, const RowProfile& profile, const BinTotals* of_profile, int sort_16,
               BinTotals* totals, Index* list, const Told<HostTotals>::Place& host,
               cudaStream_t stream) {
  list_bin_rows<<<static_cast<unsigned>((Offset{rows} + kThreads - 1) / kThreads), kThreads, 0,
                  stream>>>(rows, profile, of_profile, sort_16, totals, list, host);
  CHECK_LAUNCH("list_bin_rows", stream);
}

void list_parts(const RowList& list, const RowProfile& profile, const BinRules& rules,
                const RowParts& parts, BinTotals* totals, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((list.count + kThreads - 1) / kThreads);
  list_row_parts<<<blocks, kThreads, 0, stream>>>(list, profile, rules, parts, totals);
  CHECK_LAUNCH("list_row_parts", stream);
}

void sum_parts(const RowParts& parts, const RowProfile& profile, cudaStream_t stream) {
  constexpr int kParts = kThreads / 32;
  const auto blocks = checked_cast<unsigned>((parts.count + kParts - 1) / kParts, "parts of rows");
  sum_up_parts<<<blocks, kThreads, 0, stream>>>(parts, profile);
  CHECK_LAUNCH("sum_up_parts", stream);
}

}  // namespace csrkit::gpu
