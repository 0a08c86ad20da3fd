// The bins in which rows of C are made, and the offsets of C, once all rows are counted.
// Owns     a lane: one row, or four
// Reads    the profile, a few numbers per row
// Launch   256 threads; a block adds up its rows and takes the sum of those before from the blocks
//          before it
// Against  a scan of its own for the offsets: the counts would be read once more

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spgemm/adaptive_rows/binning/choose_make_bins.h"
#include "gpu/spgemm/adaptive_rows/primitives/look_back.cuh"
#include "gpu/spgemm/adaptive_rows/profile/bin_counts.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr Offset kManyRows = 1 << 19;  // then a block chooses bins for a thousand rows

/// Keeps the largest number. It is read first, so that few atomics meet there.
__device__ void keep_most(std::uint32_t* most, std::uint64_t number) {
  const auto of_row = static_cast<std::uint32_t>(number);
  if (*static_cast<volatile std::uint32_t*>(most) < of_row) atomicMax(most, of_row);
}

/// The bin of a row whose entries are counted; `count` becomes their number.
__device__ MakeBin choose_for_row(const DeviceCsrView<void>& a, const BinRules& rules,
                                  const RowProfile& profile, Index row, std::uint32_t& count,
                                  BinTotals* totals) {
  const RowFacts facts = {profile.products[row], static_cast<std::uint32_t>(profile.words[row]),
                          a.row_end(row) - a.row_begin(row)};
  const auto counted = static_cast<CountBin>(profile.bin[row]);
  const bool is_twin = counted == CountBin::twin || counted == CountBin::sorted_twin;
  const Index counted_row = is_twin ? profile.counted[row] : row;
  count = profile.counts[counted_row];
  const std::uint32_t twins = is_twin ? 1 : rules.prefers_twins ? profile.twins[row] : 0;
  MakeBin bin = rules.make_bin(facts, count, counted, twins);
  if (bin == MakeBin::bit_range_large_team) {
    keep_most(&totals->bytes_of_large_team, rules.bytes_of_large_team(facts, count));
  } else if (bin == MakeBin::bit_range_block) {
    keep_most(&totals->bytes_of_block, rules.bytes_of_block(facts, count, kThreadsOfBlock));
  } else if (bin == MakeBin::bit_range_whole) {
    keep_most(&totals->bytes_of_whole, rules.bytes_of_block(facts, count, kThreadsOfWhole));
  }
  const bool is_together = (twins > 0 && BinRules::sorts_twins(bin)) ||
                           (rules.makes_twins(facts, count, twins) &&
                            bin >= MakeBin::bit_range_3k && bin <= MakeBin::bit_range_wide);
  if (is_twin && is_together) bin = MakeBin::twin;
  const bool is_staged = profile.staged != nullptr && profile.staged[row] != RowProfile::kNotStaged;
  if (is_staged && bin != MakeBin::twin) bin = MakeBin::done;
  profile.bin[row] = static_cast<std::uint8_t>(bin);
  if (counted == CountBin::twin) {
    profile.first_bits[row] = profile.first_bits[counted_row];
  } else if (bin >= MakeBin::bit_range_3k && !is_bit_range(counted)) {
    profile.first_bits[row] = RowProfile::kNotKept;  // counting did not mark bits
  }
  if (twins > 0 && !is_together) profile.twins[row] = 0;
  return bin;
}

/// A block takes kRows times kThreads rows. Sum: the type of C's offsets. `offsets` may be null.
template <class Sum, int kRows>
__global__ void __launch_bounds__(kThreads)
    choose_make_bin(DeviceCsrView<void> a, BinRules rules, RowProfile profile, Sum* offsets,
                    unsigned long long* states, BinTotals* totals) {
  __shared__ BinCounts bins;
  __shared__ unsigned long long scratch[32], before_block;
  __shared__ std::uint32_t counts[kRows * kThreads];
  bins.clear();
  __syncthreads();
  const Offset first_row = Offset{blockIdx.x} * (kRows * kThreads);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const Offset row = first_row + i * kThreads + threadIdx.x;
    const bool has_row = row < a.rows;
    MakeBin bin = MakeBin::done;
    std::uint32_t count = 0;
    if (has_row) bin = choose_for_row(a, rules, profile, static_cast<Index>(row), count, totals);
    bins.add_row(has_row, static_cast<int>(bin));
    counts[i * kThreads + threadIdx.x] = count;
  }
  __syncthreads();
  bins.add_to(totals->rows);
  if (offsets == nullptr) return;
  // From here on a thread has kRows neighbouring rows.
  std::uint32_t of_rows[kRows];
  unsigned long long of_thread = 0, of_block = 0;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    of_rows[i] = counts[threadIdx.x * kRows + i];
    of_thread += of_rows[i];
  }
  const unsigned long long in_block =
      Group<kThreads>::exclusive_sum<unsigned long long>(of_thread, of_block, scratch);
  if (threadIdx.x < 32) {
    const unsigned long long before = sum_of_blocks_before(states, of_block);
    if (threadIdx.x == 0) before_block = before;
  }
  __syncthreads();
  unsigned long long offset = before_block + in_block;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const Offset row = first_row + threadIdx.x * kRows + i;
    if (row >= a.rows) return;
    offsets[row] = static_cast<Sum>(offset);
    offset += of_rows[i];
    if (row + 1 == a.rows) {
      offsets[row + 1] = static_cast<Sum>(offset);
      totals->nnz = offset;
    }
  }
}

}  // namespace

void choose_make_bins(const DeviceCsrView<void>& a, const BinRules& rules,
                      const RowProfile& profile, const NewOffsets& offsets,
                      unsigned long long* states, BinTotals* totals, cudaStream_t stream) {
  const auto launch = [&](auto* to, auto rows_of_thread) {
    using Sum = std::remove_pointer_t<decltype(to)>;
    choose_make_bin<Sum, rows_of_thread>
        <<<blocks_of(a.rows, kThreads * rows_of_thread), kThreads, 0, stream>>>(a, rules, profile,
                                                                                to, states, totals);
  };
  const auto launch_by_size = [&](auto* to) {
    // Four rows a thread save atomics and waits for the blocks before, where blocks are enough.
    if (a.rows >= kManyRows) return launch(to, std::integral_constant<int, 4>{});
    launch(to, std::integral_constant<int, 1>{});
  };
  if (offsets.wide != nullptr) {
    launch_by_size(offsets.wide);
  } else {
    launch_by_size(offsets.narrow);
  }
  CHECK_LAUNCH("choose_make_bin", stream);
}

}  // namespace csrkit::gpu
