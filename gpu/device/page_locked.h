// Small places in page-locked host memory, which kernels write to: a number that the host waits for
// is there when the kernel is done, without a copy of its own.
#pragma once

#include <cstddef>

namespace csrkit::gpu {

/// Cells for the life of the process, as page-locking takes as long as an analysis (0.1 ms);
/// any thread, any device. One that a kernel may still write to must not
/// be given back: better it is lost.
class PageLockedCells {
 public:
  static constexpr std::size_t kBytes = 256;

  /// kBytes bytes of anything, aligned as much. Throws DeviceError.
  static void* take();
  /// The same, but null the first ten times: a copy instead takes some 8 us more, so few plans
  /// would not make up for page-locking.
  static void* take_if_it_pays();
  static void give_back(void* cell) noexcept;
};

}  // namespace csrkit::gpu
