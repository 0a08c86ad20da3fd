// Names for the lanes of a warp.
#pragma once

namespace csrkit::gpu {

inline constexpr int kWarpLanes = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

/// The lanes of this thread's group, where the warp is divided into groups of kLanes neighbours.
template <int kLanes>
__device__ inline unsigned lanes_of_group() {
  static_assert(kLanes > 0 && kWarpLanes % kLanes == 0);
  if constexpr (kLanes == kWarpLanes) {
    return kAllLanes;
  } else {
    return ((1u << kLanes) - 1) << (threadIdx.x % kWarpLanes / kLanes * kLanes);
  }
}

}  // namespace csrkit::gpu
