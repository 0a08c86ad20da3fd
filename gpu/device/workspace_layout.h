// Where the arrays of a kernel's analysis lie in its workspace.
#pragma once

#include <cstdint>

#include "core/base/types.h"

namespace csrkit::gpu {

/// Hands out byte positions one after the other. Each is a multiple of 256, as cudaMalloc's
/// addresses are: enough for every type and vector load.
class WorkspaceLayout {
 public:
  static constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

  /// The position of an array of `count` elements.
  template <class Element>
  std::uint64_t reserve(Offset count) {
    return reserve_bytes(static_cast<std::uint64_t>(count) * sizeof(Element));
  }
  std::uint64_t reserve_bytes(std::uint64_t bytes) {
    const std::uint64_t position = bytes_;
    bytes_ += aligned(bytes);
    return position;
  }

  /// Total size so far, with padding.
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

}  // namespace csrkit::gpu
