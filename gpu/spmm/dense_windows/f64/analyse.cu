// The analysis of dense_windows in f64: A's entries window by window.
// Owns     a block a row of A (because rows may be long); a warp a row of tiles: where its windows
//          begin (runs.cuh)
// Reads    A twice, coalesced; one atomic addition for a row's entries in a window
// Launch   128 threads

#include "gpu/device/cuda_check.h"
#include "gpu/spmm/dense_windows/f64/windows.h"
#include "gpu/spmm/dense_windows/runs.cuh"

namespace csrkit::gpu {

using namespace dense_windows;
using namespace dense_windows_f64;

namespace {

__global__ void __launch_bounds__(kRunThreads)
    count_entries(DeviceCsrView<double> a, WindowShape shape, unsigned* all_counts) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto row = static_cast<Index>(blockIdx.x);
  unsigned* counts = all_counts + row / kTileRows * shape.windows;
  for_runs<kWindowCols>(a, row,
                        [&](double, Index, Index window, int head, int size, bool is_there) {
                          if (is_there && head == lane)
                            atomicAdd(counts + window, static_cast<unsigned>(size));
                        });
}

__global__ void __launch_bounds__(kRunThreads)
    put_doubles(DeviceCsrView<double> a, WindowShape shape, WindowWorkspace<double> workspace) {
  const auto row = static_cast<Index>(blockIdx.x);
  const Offset first_window = row / kTileRows * shape.windows;
  for_runs<kWindowCols>(
      a, row, [&](double value, Index col, Index window, int head, int size, bool is_there) {
        const Offset place = place_of_entry(workspace.begins, workspace.counts,
                                            first_window + max(window, 0), head, size, is_there);
        if (!is_there) return;
        workspace.values[place] = value;
        workspace.positions[place] =
            static_cast<std::uint16_t>(a_place(row % kTileRows, col % kWindowCols));
      });
}

}  // namespace

template <>
void fill_windows(const DeviceCsrView<double>& a, const WindowShape& shape,
                  const WindowWorkspace<double>& workspace, cudaStream_t stream) {
  if (shape.blocks == 0) return;
  const auto windows = static_cast<std::size_t>(shape.row_tiles * shape.windows);
  CHECK_CUDA(cudaMemsetAsync(workspace.counts, 0, windows * sizeof(unsigned), stream));
  const auto rows = static_cast<unsigned>(a.rows);
  count_entries<<<rows, kRunThreads, 0, stream>>>(a, shape, workspace.counts);
  CHECK_LAUNCH("count_entries", stream);
  find_begins<<<blocks_for_begins(shape), kRunThreads, 0, stream>>>(a, shape, workspace.counts,
                                                                    workspace.begins);
  CHECK_LAUNCH("find_begins", stream);
  put_doubles<<<rows, kRunThreads, 0, stream>>>(a, shape, workspace);
  CHECK_LAUNCH("put_doubles", stream);
}

}  // namespace csrkit::gpu
