// Profile of rows of A with very many entries, which profile_row_groups leaves out.
// Owns     a block: 1,024 entries of a row at a time; the last one of a row decides
// Reads    per entry of A two offsets and two columns of B, four entries per lane in flight
// Launch   256 threads, at most 512 blocks
// Against  a block per row, which would be waited for

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/profile/profile.h"
#include "gpu/spgemm/adaptive_rows/profile/row_span.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// There are few such rows, so their totals are added one by one.
__global__ void __launch_bounds__(kThreads)
    profile_long_rows(DeviceCsrView<void> a, DeviceCsrView<void> b, BinRules rules,
                      RowProfile profile, LongRows long_rows, BinTotals* totals) {
  constexpr int kAtOnce = kSpreadSources / kThreads;
  __shared__ Span of_warps[kWarps];
  const std::uint32_t chunks = totals->chunks;
  for (std::uint32_t item = blockIdx.x; item < chunks; item += gridDim.x) {
    const LongRowChunk chunk = long_rows.chunks[item];
    LongRow& row = long_rows.rows[chunk.long_row];
    const Offset begin = a.row_begin(row.row) + Offset{chunk.number} * kSpreadSources + threadIdx.x;
    const Offset end = a.row_end(row.row);
    Index source[kAtOnce];
    Offset first[kAtOnce], last[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const Offset at = begin + u * kThreads;
      source[u] = at < end ? __ldg(a.col_indices + at) : -1;
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      first[u] = source[u] >= 0 ? b.row_begin(source[u]) : 0;
      last[u] = source[u] >= 0 ? b.row_end(source[u]) : 0;
    }
    Span span = Span::none();
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (first[u] == last[u]) continue;
      span.add({static_cast<unsigned long long>(last[u] - first[u]),
                __ldg(b.col_indices + first[u]), __ldg(b.col_indices + last[u] - 1)});
    }
    __syncwarp();
    span.add_lanes(32);
    __syncthreads();  // of the chunk before
    if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x >> 5] = span;
    __syncthreads();
    if (threadIdx.x != 0) continue;
    for (int warp = 1; warp < kWarps; ++warp) span.add(of_warps[warp]);
    atomicAdd(&row.products, span.products);
    atomicMin(&row.first, span.first);
    atomicMax(&row.last, span.last);
    __threadfence();
    if (atomicSub(&row.chunks_left, 1u) != 1) continue;
    __threadfence();
    const volatile LongRow& whole = row;
    unsigned long long parts = 0;
    const Span of_row = {whole.products, whole.first, whole.last};
    RowFacts facts;
    const CountBin bin =
        decide(a, rules, profile, totals, row.row, of_row, false, false, facts, parts);
    if (is_bit_range(bin)) {
      const std::uint32_t kept_words = rules.kept_words(facts);
      const unsigned long long first =
          kept_words > 0 ? atomicAdd(&totals->kept_words, kept_words) : 0;
      profile.first_bits[row.row] = first_bits_at(rules, facts, kept_words, first);
      atomicMax(&totals->longest, static_cast<unsigned long long>(facts.products));
    }
    atomicAdd(&totals->rows[static_cast<int>(bin)], 1u);
    atomicAdd(&totals->products, of_row.products);
    if (parts > 0) atomicAdd(&totals->parts, parts);
  }
}

}  // namespace

void profile_chunks(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                    const BinRules& rules, const RowProfile& profile, const LongRows& long_rows,
                    BinTotals* totals, cudaStream_t stream) {
  constexpr Offset kMostBlocks = 512;
  const Offset chunks = LongRows::most_chunks(a.nnz, rules.fewest_spread);
  if (chunks == 0) return;
  profile_long_rows<<<static_cast<unsigned>(std::min(chunks, kMostBlocks)), kThreads, 0, stream>>>(
      a, b, rules, profile, long_rows, totals);
  CHECK_LAUNCH("profile_long_rows", stream);
}

}  // namespace csrkit::gpu
