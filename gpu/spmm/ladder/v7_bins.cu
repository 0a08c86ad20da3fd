// v7_bins: short rows share a warp, long rows have a block each.
// Owns     of rows below kLong nonzeros as v6_rows_by_length: a group of lanes, one row; of longer
//          ones a block: one row or 128 columns of it (f32), whose nonzeros its groups take in
//          turns
// Reads    as v6_rows_by_length; the groups' sums meet in shared memory, 4 KiB, in a fixed order
// Launch   256 threads, two kernels, the long rows first
// Needs    an analysis as v6_rows_by_length, and the number of long rows on the host
// Against  v6_rows_by_length: a hub of a few thousand nonzeros no longer holds up the rest. Still
//          bad: one of a million does; a second launch; and blocks that end late leave lanes idle.
//          The production kernels cut such rows into pieces and add the pieces up.

#include <algorithm>

#include "core/base/counted.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/ladder/row_order.cuh"
#include "gpu/spmm/ladder/staged_rows.cuh"

namespace csrkit::gpu {

namespace {

constexpr Offset kLong = 256;  // a few rounds for each of the 8 to 32 groups of a block

template <class Types, int kWidth, bool kIsLong>
__global__ void __launch_bounds__(kStagedThreads)
    binned_rows(DeviceCsrView<typename Types::Value> a, const Index* order, Index first_row,
                DeviceDenseView<const typename Types::Value> b,
                DeviceDenseView<typename Types::Output> c, typename Types::Accumulate alpha,
                typename Types::Accumulate beta, int group_log2, Offset first_tile) {
  __shared__ StagedTile<Types> tile;
  const LaneGroup group(group_log2);
  const int groups = kStagedThreads >> group_log2, me = group.first >> group_log2;
  const Offset unit =
      Offset{first_row} + (kIsLong ? Offset{blockIdx.x} : Offset{blockIdx.x} * groups + me);
  if (unit >= c.rows) return;
  const Index row = order[unit];
  const Offset column = (((first_tile + blockIdx.y) << group_log2) + group.lane) * kWidth;
  const bool has_columns = column < c.cols;
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  Sums<Types, kWidth> sums;
  sums.clear();
  if constexpr (!kIsLong) {
    add_staged_entries(sums, tile, group, a, begin, end, b.data + column, b.leading_dim,
                       has_columns);
  } else {
    __shared__ Sums<Types, kWidth> of_group[kStagedThreads];
    const Offset size = Offset{1} << group_log2;
    for (Offset at = begin + me * size; at < end; at += groups * size) {
      add_staged_entries(sums, tile, group, a, at, min(at + size, end), b.data + column,
                         b.leading_dim, has_columns);
    }
    of_group[threadIdx.x] = sums;
    __syncthreads();
    if (me != 0) return;
    for (int other = 1; other < groups; ++other) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        sums.item[i] =
            sums.algebra().add(sums.item[i], of_group[(other << group_log2) + group.lane].item[i]);
      }
    }
  }
  if (has_columns) sums.store(c.data + Offset{row} * c.leading_dim + column, alpha, beta);
}

template <class Types>
class Bins {
  using Value = typename Types::Value;

 public:
  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    return RowOrder::workspace_bytes(sizes.rows);
  }
  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    rows_ = sizes.rows;
    RowOrder::analyse(a.row_offsets, sizes.rows, workspace, stream);
  }
  void finish_analysis(void* workspace, cudaStream_t stream) {
    long_rows_ = RowOrder::rows_from(kLong, rows_, workspace, stream);
  }
  std::string choice() const { return counted(long_rows_, "row") + " with a block each"; }

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<typename Types::Output>& c, typename Types::Accumulate alpha,
              typename Types::Accumulate beta, void* workspace, cudaStream_t stream) const {
    const auto* order = static_cast<const Index*>(workspace);
    with_width<Types>(widest_access(b, c), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      const int group_log2 = staged_group_log2(c.cols, kWidth);
      const Offset tile = Offset{kWidth} << group_log2;
      const Offset tiles = (Offset{c.cols} + tile - 1) / tile;
      const Offset short_rows = c.rows - long_rows_;
      const Offset blocks = ((short_rows << group_log2) + kStagedThreads - 1) / kStagedThreads;
      for (Offset done = 0; done < tiles; done += kMaxGridY) {
        const auto now = static_cast<unsigned>(std::min(tiles - done, kMaxGridY));
        if (long_rows_ > 0) {
          binned_rows<Types, kWidth, true>
              <<<dim3(static_cast<unsigned>(long_rows_), now), kStagedThreads, 0, stream>>>(
                  a, order, 0, b, c, alpha, beta, group_log2, done);
          CHECK_LAUNCH("binned_rows (long)", stream);
        }
        if (short_rows > 0) {
          binned_rows<Types, kWidth, false>
              <<<dim3(static_cast<unsigned>(blocks), now), kStagedThreads, 0, stream>>>(
                  a, order, long_rows_, b, c, alpha, beta, group_log2, done);
          CHECK_LAUNCH("binned_rows (short)", stream);
        }
      }
    });
  }

 private:
  Index rows_ = 0;
  Index long_rows_ = 0;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_v7_bins(const SpmmProblem& problem) {
  return typed_wide_spmm<Bins>(problem);
}

}  // namespace csrkit::gpu
