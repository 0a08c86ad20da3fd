// Small cells in page-locked host memory. A kernel writes numbers there that the host waits for: it
// needs no copy after the kernel.
#pragma once

#include <cstddef>

namespace csrkit::gpu {

/// The cells live as long as the process, because page-locking takes as long as an analysis (0.1
/// ms). Any thread and any device may use them. Do not give back a cell that a kernel may still
/// write to: rather lose it.
class PageLockedCells {
 public:
  static constexpr std::size_t kBytes = 1024;

  /// A cell of kBytes bytes, aligned to kBytes. Throws DeviceError, std::bad_alloc.
  static void* take();
  /// The same, but null for the first ten calls. A copy instead takes about 8 us more, so a process
  /// with few plans would not earn back the page-locking.
  static void* take_if_it_pays();
  static void give_back(void* cell) noexcept;
};

}  // namespace csrkit::gpu
