// The lists of adaptive_rows: the rows of every bin, and the parts of rows that are cut.
// Owns     a lane: one row, or the parts of one; a warp: the parts of a row that are added up
// Reads    a byte per row, or the profile of the rows that are cut
// Launch   256 threads
// Against  sorting rows by bin: here blocks reserve places by atomics, and neighbouring rows stay
//          neighbours

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/binning/lists.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_groups.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// Products from which a row comes first in its bin: started last, it would run alone at the end.
__device__ unsigned long long most_of_other_rows(unsigned long long longest) {
  constexpr unsigned long long kFew = 4096, kOfLongest = 4;
  return longest > kFew * kOfLongest ? longest / kOfLongest : UINT32_MAX;
}

/// Where a row stands in its bin's list: at its end or at its start, and there with rows like it.
enum class Position : int { at_end, at_start, behind_start, count };
constexpr int kPositions = static_cast<int>(Position::count);

/// Rows that lanes of a warp sort have code of their own if they have at most five or six eighths
/// of their bin's products (with_fewest_items). Such rows are neighbours: a warp runs what the
/// longest of its rows needs, and code for all of them does not fit the instruction cache. Shorter
/// rows, eight or more a warp, lose as much by leaving the order of A
/// (docs/lab/2026-11-29-spgemm-sorted-rows.md).
__device__ Position position_of(std::uint32_t products, int bin, int sort_16,
                                unsigned long long most_of_others) {
  constexpr int kShortBins = 5;  // sort_16 ... sort_256
  if (bin == sort_16) {
    return products <= std::uint32_t{kFewProducts} ? Position::at_start : Position::at_end;
  }
  const bool has_eighths = bin > sort_16 + 1 && bin < sort_16 + kShortBins;  // sort_64 on
  if (has_eighths) {
    const std::uint32_t eighth = 2u << (bin - sort_16);
    if (products <= 5 * eighth) return Position::at_start;
    return products <= 6 * eighth ? Position::behind_start : Position::at_end;
  }
  return products > most_of_others ? Position::at_start : Position::at_end;
}

/// Writes the list of every bin, block by block.
__global__ void __launch_bounds__(kThreads)
    list_bin_rows(Index rows, RowProfile profile, const BinTotals* of_profile, int sort_16,
                  BinTotals* totals, Index* list, Told<HostTotals>::Place host,
                  bool may_be_in_order) {
  __shared__ std::uint32_t of_warps[kWarps][kPositions][kMostBins];
  __shared__ std::uint32_t of_block[kPositions][kMostBins];
  if (blockIdx.x == 0) host.tell(*totals);
  if (may_be_in_order) {
    Offset longer = 0;
    const bool are_in_order = BinRules::makes_in_order(
        of_profile->rows, of_profile->long_row_totals, rows, of_profile->products, longer);
    if (are_in_order && longer == 0) return;
  }
  const int warp = static_cast<int>(threadIdx.x >> 5);
  const unsigned lane = threadIdx.x & 31;
  const Offset row = Offset{blockIdx.x} * kThreads + threadIdx.x;
  const int bin = row < rows ? profile.bin[row] : 0;  // 0 has no list
  const unsigned long long most = most_of_other_rows(of_profile->longest);
  const auto position = static_cast<int>(
      bin == 0 ? Position::at_end : position_of(profile.products[row], bin, sort_16, most));
#pragma unroll
  for (int i = 0; i < kPositions; ++i) of_warps[warp][i][lane] = 0;
  __syncwarp();
  const unsigned mates = __match_any_sync(kAllLanes, position * kMostBins + bin);
  const auto before = static_cast<std::uint32_t>(__popc(mates & ((1u << lane) - 1)));
  if (before == 0) of_warps[warp][position][bin] = static_cast<std::uint32_t>(__popc(mates));
  __syncthreads();
  if (warp == 0) {  // lane = bin
    const std::uint32_t in_bin = lane == 0 ? 0 : totals->rows[lane];
    std::uint32_t end = in_bin;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t other = __shfl_up_sync(kAllLanes, end, distance);
      if (lane >= distance) end += other;
    }
    std::uint32_t counts[kPositions] = {};
#pragma unroll
    for (int i = 0; i < kPositions; ++i) {
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        const std::uint32_t of_warp = of_warps[w][i][lane];
        of_warps[w][i][lane] = counts[i];
        counts[i] += of_warp;
      }
    }
    const auto [last, first, behind_first] = counts;
    std::uint32_t start = end - in_bin;
    if (lane > 0 && last > 0) end -= atomicAdd(&totals->placed[lane], last) + last;
    if (lane > 0 && first + behind_first > 0) {
      start += atomicAdd(&totals->placed_first[lane], first + behind_first);
    }
    of_block[static_cast<int>(Position::at_end)][lane] = end;
    of_block[static_cast<int>(Position::at_start)][lane] = start;
    of_block[static_cast<int>(Position::behind_start)][lane] = start + first;
  }
  __syncthreads();
  if (bin == 0) return;
  list[of_block[position][bin] + of_warps[warp][position][bin] + before] = static_cast<Index>(row);
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
               bool may_be_in_order, cudaStream_t stream) {
  list_bin_rows<<<static_cast<unsigned>((Offset{rows} + kThreads - 1) / kThreads), kThreads, 0,
                  stream>>>(rows, profile, of_profile, sort_16, totals, list, host,
                            may_be_in_order);
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
