// Large pages make the first writes to large arrays faster, and accesses in random order.
#pragma once

#include <cstddef>

namespace csrkit {

/// Asks the system for huge pages inside [data, data + bytes): fewer page faults and TLB misses.
/// This is advice: if the system refuses it or does not know it, nothing changes.
void advise_huge_pages(void* data, std::size_t bytes);

/// The same; then `threads` threads, as in team_size, write a zero to every page. For new arrays
/// that one thread or a device will fill: alone it would wait for each page.
void make_pages(void* data, std::size_t bytes, int threads);

}  // namespace csrkit
