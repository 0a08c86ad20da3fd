// Large arrays that are written for the first time, or in no order, gain from large pages.
#pragma once

#include <cstddef>

namespace csrkit {

/// Asks the system to back what lies inside [data, data + bytes) by huge pages: fewer page faults
/// and TLB misses. Advice only: where it is refused or unknown, nothing changes.
void advise_huge_pages(void* data, std::size_t bytes);

/// The same, and `threads` threads, as in team_size, write to every page, which may change what was
/// there: for new arrays that one thread or a device fills. Alone it would wait for each page.
void make_pages(void* data, std::size_t bytes, int threads);

}  // namespace csrkit
