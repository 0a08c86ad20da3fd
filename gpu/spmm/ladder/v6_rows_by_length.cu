// v6_rows_by_length: the rows of C are visited in the order of their lengths, longest first.
// Owns     as v5_vector_loads: a group of 8, 16 or 32 lanes, one row of C or 128 columns of it
//          (f32)
// Reads    the order of the rows, 4 bytes per row; else as v5_vector_loads
// Launch   256 threads
// Needs    an analysis: three small kernels that sort the rows into bins of lengths
// Against  v5_vector_loads: the four rows of a warp are equally long, so none waits, and the
//          longest rows begin first instead of last. Still bad: a hub row is one group's work;
//          neighbours in the matrix, which may share columns, are torn apart.

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/ladder/row_order.cuh"
#include "gpu/spmm/ladder/staged_rows.cuh"

namespace csrkit::gpu {

namespace {

template <class Types, int kWidth>
__global__ void __launch_bounds__(kStagedThreads)
    rows_by_length(DeviceCsrView<typename Types::Value> a, const Index* order,
                   DeviceDenseView<const typename Types::Value> b,
                   DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                   typename Types::Accumulate beta, int group_log2, Offset first_tile) {
  __shared__ StagedTile<Types> tile;
  const LaneGroup group(group_log2);
  const Offset unit = (Offset{blockIdx.x} * kStagedThreads + threadIdx.x) >> group_log2;
  if (unit >= c.rows) return;
  const Index row = order[unit];
  const Offset column = (((first_tile + blockIdx.y) << group_log2) + group.lane) * kWidth;
  const bool has_columns = column < c.cols;
  Sums<Types, kWidth> sums;
  sums.clear();
  add_staged_entries(sums, tile, group, a, a.row_begin(row), a.row_end(row), b.data + column,
                     b.leading_dim, has_columns);
  if (has_columns) sums.store(c.data + Offset{row} * c.leading_dim + column, alpha, beta);
}

template <class Types>
struct RowsByLength {
  using Value = typename Types::Value;

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    return RowOrder::workspace_bytes(sizes.rows);
  }
  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    RowOrder::analyse(a.row_offsets, sizes.rows, workspace, stream);
  }
  void finish_analysis(void*, cudaStream_t) {}
  std::string choice() const { return {}; }

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void* workspace, cudaStream_t stream) const {
    with_width<Types>(widest_access(b, c), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      const int group_log2 = staged_group_log2(c.cols, kWidth);
      const Offset tile = Offset{kWidth} << group_log2;
      const Offset tiles = (Offset{c.cols} + tile - 1) / tile;
      const Offset blocks = ((Offset{c.rows} << group_log2) + kStagedThreads - 1) / kStagedThreads;
      for (Offset done = 0; done < tiles; done += kMaxGridY) {
        const dim3 grid(static_cast<unsigned>(blocks),
                        static_cast<unsigned>(std::min(tiles - done, kMaxGridY)));
        rows_by_length<Types, kWidth><<<grid, kStagedThreads, 0, stream>>>(
            a, static_cast<const Index*>(workspace), b, c, alpha, beta, group_log2, done);
        CHECK_LAUNCH("rows_by_length", stream);
      }
    });
  }
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_v6_rows_by_length(const SpmmProblem& problem) {
  return typed_wide_spmm<RowsByLength>(problem);
}

}  // namespace csrkit::gpu
