// v5_vector_loads: 8 to 32 lanes compute one row of C, each lane 16 bytes of it.
// Owns     a lane: one vector of neighbouring columns; a group of 8, 16 or 32 lanes: one row of C,
//          or 128 columns of it (f32), wider rows in the outer grid dimension; a warp: up to four
//          rows
// Reads    B one aligned vector per lane and nonzero, eight nonzeros asked for together; A
//          coalesced into shared memory, as many nonzeros at a time as the group has lanes; 2 or 3
//          KiB
// Launch   256 threads
// Needs    nothing: the width of the vectors follows from K, leading dimensions and addresses
// Against  v4_a_in_shared: a quarter of the loads and of the index arithmetic per byte, 128 bytes
//          in flight per lane, no idle lanes at K = 32. Still bad: the four rows of a warp wait for
//          the longest of them, and a hub row is one group's work.

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/ladder/staged_rows.cuh"

namespace csrkit::gpu {

namespace {

template <class Types, int kWidth>
__global__ void __launch_bounds__(kStagedThreads)
    vector_loads(DeviceCsrView<typename Types::Value> a,
                 DeviceDenseView<const typename Types::Value> b,
                 DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                 typename Types::Accumulate beta, int group_log2, Offset first_tile) {
  __shared__ StagedTile<Types> tile;
  const LaneGroup group(group_log2);
  const Offset unit = (Offset{blockIdx.x} * kStagedThreads + threadIdx.x) >> group_log2;
  if (unit >= c.rows) return;
  const auto row = static_cast<Index>(unit);
  const Offset column = (((first_tile + blockIdx.y) << group_log2) + group.lane) * kWidth;
  const bool has_columns = column < c.cols;
  Sums<Types, kWidth> sums;
  sums.clear();
  add_staged_entries(sums, tile, group, a, a.row_begin(row), a.row_end(row), b.data + column,
                     b.leading_dim, has_columns);
  if (has_columns) sums.store(c.data + Offset{row} * c.leading_dim + column, alpha, beta);
}

template <class Types>
struct VectorLoads : NoAnalysis<Types> {
  void launch(const DeviceCsrView<typename Types::Value>& a,
              const DeviceDenseView<const typename Types::Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void*, cudaStream_t stream) const {
    with_width<Types>(widest_access(b, c), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      const int group_log2 = staged_group_log2(c.cols, kWidth);
      const Offset tile = Offset{kWidth} << group_log2;
      const Offset tiles = (Offset{c.cols} + tile - 1) / tile;
      const Offset blocks = ((Offset{c.rows} << group_log2) + kStagedThreads - 1) / kStagedThreads;
      for (Offset done = 0; done < tiles; done += kMaxGridY) {
        const dim3 grid(static_cast<unsigned>(blocks),
                        static_cast<unsigned>(std::min(tiles - done, kMaxGridY)));
        vector_loads<Types, kWidth>
            <<<grid, kStagedThreads, 0, stream>>>(a, b, c, alpha, beta, group_log2, done);
        CHECK_LAUNCH("vector_loads", stream);
      }
    });
  }
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_v5_vector_loads(const SpmmProblem& problem) {
  return typed_wide_spmm<VectorLoads>(problem);
}

}  // namespace csrkit::gpu
