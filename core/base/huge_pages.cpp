#include "core/base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

#include "core/base/team.h"

namespace csrkit {

void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = begin + bytes;
  if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

void make_pages(void* data, std::size_t bytes, int threads) {
  constexpr std::size_t kPage = 4096, kWorthATeam = 1 << 20;
  advise_huge_pages(data, bytes);
  auto* const first = static_cast<volatile char*>(data);
#pragma omp parallel for num_threads(bytes < kWorthATeam ? 1 : team_size(threads)) schedule(static)
  for (std::size_t at = 0; at < bytes; at += kPage) first[at] = 0;
}

}  // namespace csrkit
