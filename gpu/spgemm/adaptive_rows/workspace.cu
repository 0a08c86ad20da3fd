#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <type_traits>

#include "gpu/device/cuda_check.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/spgemm/adaptive_rows/workspace.h"

namespace csrkit::gpu {

namespace {

constexpr auto aligned = WorkspaceLayout::aligned;

/// Exclusive sums of rows + 1 counts. `bytes` of workspace; asked for first, with `workspace` null.
template <class Sum>
void sum(void* workspace, std::size_t& bytes, const std::uint32_t* counts, Sum* sums, Index rows,
         cudaStream_t stream) {
  CHECK_CUDA(cub::DeviceScan::ExclusiveScan(workspace, bytes, counts, sums, cuda::std::plus<Sum>{},
                                            Sum{0}, Offset{rows} + 1, stream));
}

std::uint64_t sum_workspace_bytes(Index rows) {
  static const bool has_device = [] {
    int devices = 0;
    const bool found = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    static_cast<void>(cudaGetLastError());
    return found;
  }();
  // A forecast for a GPU that is elsewhere: a state of 16 bytes per tile of 512 counts or more.
  if (!has_device) return static_cast<std::uint64_t>(rows) / 32 + (64u << 10);
  std::size_t narrow = 0, wide = 0;
  sum<std::uint32_t>(nullptr, narrow, nullptr, nullptr, rows, nullptr);
  sum<unsigned long long>(nullptr, wide, nullptr, nullptr, rows, nullptr);
  return std::max(narrow, wide);
}

}  // namespace

std::uint64_t Workspace::bytes_for(Index rows) {
  const auto n = static_cast<std::uint64_t>(rows) + 1;
  return 2 * aligned(sizeof(BinTotals)) + 6 * aligned(n * 4) + aligned(n) +
         aligned(sum_workspace_bytes(rows));
}

Workspace::Workspace(DeviceMemory& memory, Index rows)
    : bytes(memory, static_cast<Offset>(bytes_for(rows)), "the workspace of adaptive_rows") {
  std::byte* next = bytes.data();
  const auto take = [&](auto*& array, std::uint64_t size) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
    next += aligned(size);
  };
  const auto n = static_cast<std::uint64_t>(rows) + 1;
  take(count_totals, sizeof(BinTotals));
  take(make_totals, sizeof(BinTotals));
  take(profile.products, n * 4);
  take(profile.first_word, n * 4);
  take(profile.words, n * 4);
  take(profile.counts, n * 4);
  take(count_list, n * 4);
  take(make_list, n * 4);
  take(profile.bin, n);
  sums_bytes = sum_workspace_bytes(rows);
  sums = next;
  CHECK_CUDA(cudaMemsetAsync(count_totals, 0, 2 * aligned(sizeof(BinTotals)), memory.stream()));
}

void Workspace::sum_counts(std::uint32_t* offsets, Index rows, cudaStream_t stream) {
  sum(sums, sums_bytes, profile.counts, offsets, rows, stream);
}

void Workspace::sum_counts(Offset* offsets, Index rows, cudaStream_t stream) {
  sum(sums, sums_bytes, profile.counts, reinterpret_cast<unsigned long long*>(offsets), rows,
      stream);
}

}  // namespace csrkit::gpu
