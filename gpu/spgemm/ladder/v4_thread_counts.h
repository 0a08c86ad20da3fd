// The shapes in which v4_thread_counts is compiled, for the search over them.
#pragma once

#include <memory>

#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

inline constexpr int kSearchedBlocks[] = {64, 128, 256, 512, 1024};
inline constexpr int kSearchedTiles[] = {64, 128, 256, 512, 1024, 2048, 4096};

/// v4 with `block` threads and tiles of `tile` columns, both out of the lists above; UsageError
/// otherwise.
std::unique_ptr<DeviceSpgemm> make_v4_of_shape(const SpgemmProblem& problem, int block, int tile);

}  // namespace csrkit::gpu
