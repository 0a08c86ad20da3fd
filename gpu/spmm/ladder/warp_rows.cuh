// What the rungs that give a warp a row have in common: the grid, and how many columns a lane
// takes.
#pragma once

#include <algorithm>
#include <type_traits>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/lane_sums.cuh"

namespace csrkit::gpu {

inline constexpr int kRungThreads = 256;

/// Calls `launch(grid, first_tile)` until all tiles of 32 * kPerLane columns have been named:
/// blocks of kRungThreads, a warp per row.
template <int kPerLane, class C, class Launch>
void launch_rung(const C& c, const Launch& launch) {
  constexpr Offset kColumns = Offset{kWarpLanes} * kPerLane;
  const Offset blocks = (Offset{c.rows} * kWarpLanes + kRungThreads - 1) / kRungThreads;
  const Offset tiles = (Offset{c.cols} + kColumns - 1) / kColumns;
  for (Offset done = 0; done < tiles; done += kMaxGridY) {
    launch(dim3(static_cast<unsigned>(blocks),
                static_cast<unsigned>(std::min(tiles - done, kMaxGridY))),
           done);
  }
}

/// Calls `f` with the columns per lane with which a warp has all of `cols`, 8 at most.
template <class F>
void with_columns_per_lane(Index cols, const F& f) {
  if (cols <= kWarpLanes) return f(std::integral_constant<int, 1>{});
  if (cols <= 2 * kWarpLanes) return f(std::integral_constant<int, 2>{});
  if (cols <= 4 * kWarpLanes) return f(std::integral_constant<int, 4>{});
  f(std::integral_constant<int, 8>{});
}

}  // namespace csrkit::gpu
