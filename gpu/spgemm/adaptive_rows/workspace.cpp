#include "gpu/spgemm/adaptive_rows/workspace.h"

#include <type_traits>

#include "gpu/device/cuda_check.h"
#include "gpu/device/workspace_layout.h"

namespace csrkit::gpu {

namespace {

constexpr auto aligned = WorkspaceLayout::aligned;

std::uint64_t states_bytes(Index rows) {
  return static_cast<std::uint64_t>(states_of_sums(rows)) * sizeof(unsigned long long);
}

std::uint64_t zero_bytes(Index rows) {
  return 2 * aligned(sizeof(BinTotals)) + aligned(states_bytes(rows));
}

}  // namespace

std::uint64_t Workspace::bytes_for(Index rows) {
  const auto n = static_cast<std::uint64_t>(rows);
  return zero_bytes(rows) + 6 * aligned(n * 4) + aligned(n);
}

Workspace::Workspace(DeviceMemory& memory, Index rows)
    : bytes(memory, static_cast<Offset>(bytes_for(rows)), "the workspace of adaptive_rows") {
  std::byte* next = bytes.data();
  const auto take = [&](auto*& array, std::uint64_t size) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
    next += aligned(size);
  };
  const auto n = static_cast<std::uint64_t>(rows);
  take(count_totals, sizeof(BinTotals));
  take(make_totals, sizeof(BinTotals));
  take(states, states_bytes(rows));
  take(profile.products, n * 4);
  take(profile.first_word, n * 4);
  take(profile.words, n * 4);
  take(profile.counts, n * 4);
  take(count_list, n * 4);
  take(make_list, n * 4);
  take(profile.bin, n);
  CHECK_CUDA(cudaMemsetAsync(count_totals, 0, zero_bytes(rows), memory.stream()));
}

}  // namespace csrkit::gpu
