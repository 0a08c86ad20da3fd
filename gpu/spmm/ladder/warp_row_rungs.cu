// The rungs that give a warp a row, as the ladder shows them. studies/spmm_lanes compiles them with
// other numbers of columns per lane and nonzeros per tile.

#include "gpu/spmm/ladder/v2_columns_strided.cuh"
#include "gpu/spmm/ladder/v3_columns_adjacent.cuh"
#include "gpu/spmm/ladder/v4_a_in_shared.cuh"

namespace csrkit::gpu {

std::unique_ptr<DeviceSpmm> make_device_v2_columns_strided(const SpmmProblem& problem) {
  return typed_wide_spmm<ColumnsStrided>(problem);
}

std::unique_ptr<DeviceSpmm> make_device_v3_columns_adjacent(const SpmmProblem& problem) {
  return typed_wide_spmm<ColumnsAdjacent>(problem);
}

std::unique_ptr<DeviceSpmm> make_device_v4_a_in_shared(const SpmmProblem& problem) {
  return typed_wide_spmm<AInShared>(problem);
}

}  // namespace csrkit::gpu
