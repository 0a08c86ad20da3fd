#include "gpu/spgemm/adaptive_rows/workspace.h"

#include <algorithm>
#include <type_traits>

#include "gpu/device/cuda_check.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/spgemm/adaptive_rows/binning/choose_make_bins.h"
#include "gpu/spgemm/adaptive_rows/numeric/rows_in_order.h"

namespace csrkit::gpu {

namespace {

constexpr auto aligned = WorkspaceLayout::aligned;

std::uint64_t states_bytes(Index rows) {
  const Offset states = std::max(states_of_sums(rows), states_of_rows_in_order(rows));
  return static_cast<std::uint64_t>(states) * sizeof(unsigned long long);
}

/// The length of `met`: twice the number of rows, up to a limit. Beyond it later rows replace
/// earlier ones, which costs little: rows with the same columns are mostly near each other.
int log2_met(Index rows) {
  constexpr int kLeast = 8, kMost = 18;
  int log2 = kLeast;
  while (log2 < kMost && Offset{1} << log2 < 2 * Offset{rows}) ++log2;
  return log2;
}

std::uint64_t zero_bytes(Index rows) {
  return 2 * aligned(sizeof(BinTotals)) + aligned(states_bytes(rows));
}

std::uint64_t long_rows_bytes(Offset nnz, Offset fewest_spread) {
  return static_cast<std::uint64_t>(LongRows::most_rows(nnz, fewest_spread)) * sizeof(LongRow);
}
std::uint64_t chunks_bytes(Offset nnz, Offset fewest_spread) {
  return static_cast<std::uint64_t>(LongRows::most_chunks(nnz, fewest_spread)) *
         sizeof(LongRowChunk);
}

}  // namespace

std::uint64_t Workspace::bytes_for(Index rows, Offset nnz, Offset fewest_spread) {
  const auto n = static_cast<std::uint64_t>(rows);
  return zero_bytes(rows) + 9 * aligned(n * 4) + aligned(n) + aligned(n * (kMostTwins - 1) * 4) +
         aligned(4ull << log2_met(rows)) + aligned(long_rows_bytes(nnz, fewest_spread)) +
         aligned(chunks_bytes(nnz, fewest_spread));
}

Workspace::Workspace(DeviceMemory& memory, Index rows, Offset nnz, Offset fewest_spread,
                     bool with_twins)
    : bytes(memory, static_cast<Offset>(bytes_for(rows, nnz, fewest_spread)),
            "the workspace of adaptive_rows") {
  std::byte* next = bytes.data();
  const auto take = [&](auto*& array, std::uint64_t size) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
    next += aligned(size);
  };
  const auto n = static_cast<std::uint64_t>(rows);
  take(count_totals, sizeof(BinTotals));
  take(make_totals, sizeof(BinTotals));
  take(states, states_bytes(rows));
  take(profile.met, 4ull << log2_met(rows));
  take(profile.products, n * 4);
  take(profile.first_word, n * 4);
  take(profile.words, n * 4);
  take(profile.counts, n * 4);
  take(profile.first_bits, n * 4);
  take(count_list, n * 4);
  take(make_list, n * 4);
  take(profile.bin, n);
  take(long_rows.rows, long_rows_bytes(nnz, fewest_spread));
  take(long_rows.chunks, chunks_bytes(nnz, fewest_spread));
  take(profile.counted, n * 4);
  take(profile.twins, n * 4);
  take(profile.twin_rows, n * (kMostTwins - 1) * 4);
  profile.log2_met = log2_met(rows);
  const std::uint64_t zero = zero_bytes(rows) + (with_twins ? aligned(4ull << log2_met(rows)) : 0);
  CHECK_CUDA(cudaMemsetAsync(count_totals, 0, zero, memory.stream()));
}

}  // namespace csrkit::gpu
