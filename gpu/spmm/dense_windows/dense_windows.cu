// dense_windows: windows of A as dense matrices, multiplied by tensor cores to the accuracy of f32.
// Owns     a block: the same number of windows of 128 rows x 64 columns of A, one tile of C after
//          another; a multiplying warp: 16 to 32 rows x 32 to 64 columns of a tile of 128 x 32, 64
//          or 128; the bringing warps: all loads of a window. Sums of tiles that several blocks
//          share go to the workspace; a last kernel adds them up in the blocks' order
// Reads    A's entries from lists by window, coalesced, as two f16 halves each, which go into a
//          cleared dense matrix in shared memory. B's halves by asynchronous copies from the
//          workspace, where a first kernel wrote them in the layout of shared memory. Three windows
//          in flight, 123 to 199 KB of shared memory a block
// Launch   384 threads, 1 block per multiprocessor, 168 registers; eight warps multiply, four load.
//          The three kernels overlap: the next one starts while one ends
// Needs    columns unique in every row, as everywhere. Numbers that are not finite, or do not fit a
//          common scale (windows.h), are left to FMAs: single rows of A, found by the analysis, or
//          all rows if B has such numbers, found by the first kernel. f32, plus and times;
//          why_no_dense_windows names the matrices and devices that are refused
// Against  row_bins: no gathering; tensor cores do 512 products of a window in the time of about 30
//          gathered ones. Still bad: the work is that of a dense matrix, whatever A is, and four
//          warps each load the same fragments of B from shared memory
// Akin to  TC-GNN (Wang et al., "TC-GNN: bridging sparse GNN computation and dense tensor cores on
//          GPUs", USENIX ATC'23): entries of A put into dense tiles for tensor cores. There the
//          columns of a row window are condensed first and numbers are TF32; here windows lie where
//          they lie in A, and numbers have the accuracy of f32

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/launch_early.cuh"
#include "gpu/spmm/dense_windows/bring.cuh"
#include "gpu/spmm/dense_windows/dense_windows.h"
#include "gpu/spmm/dense_windows/multiply.cuh"
#include "gpu/spmm/dense_windows/rows.cuh"

namespace csrkit::gpu {

namespace {

template <int kTileCols>
__global__ void __launch_bounds__(kWindowThreads, 1) multiply_windows(const WindowOperands op) {
  extern __shared__ __align__(128) std::byte shared_bytes[];
  auto& shared = *reinterpret_cast<WindowsInShared<kTileCols>*>(shared_bytes);
  const bool is_bringer = threadIdx.x >= kMultipliers;
  const Offset unit = op.shape.first_unit(blockIdx.x);
  const Offset end = op.shape.first_unit(Offset{blockIdx.x} + 1);
  WindowBringer<kTileCols> bringer(op, shared, unit, end);
  if (is_bringer) bringer.begin();
  if (threadIdx.x == 0) {
    shared.has_misfits = 0;
    for (std::uint64_t& full : shared.full) {
      detail::barrier_init(&full, kBringers + detail::kCopyArrivals);
    }
  }
  wait_for_kernel_before();
  let_next_kernel_begin();
  __syncthreads();
  if (is_bringer) {
    bringer.bring();
  } else {  // meanwhile the first window is being loaded
    const Offset parts = op.shape.windows * op.shape.col_tiles;
    for (Offset i = threadIdx.x; i < parts; i += kMultipliers) {
      if (op.workspace.misfits[i] != 0) atomicOr(&shared.has_misfits, 1);
    }
    detail::named_barrier<1, kMultipliers>();
    const bool misfits = shared.has_misfits != 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) *op.workspace.all_by_fma = misfits ? 1 : 0;
    if (!misfits) {
      multiply_rows_by_fma(op, false, Offset{threadIdx.x / 32} * gridDim.x + blockIdx.x,
                           Offset{gridDim.x} * (kMultipliers / 32));
    }
    WindowMultiplier<kTileCols>(op, shared).multiply(unit, end, misfits);
  }
}

template <class Types>
class DenseWindows {
 public:
  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    return lay_out_windows(WindowShape(sizes), nullptr, nullptr, nullptr);
  }
  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    std::uint64_t bytes = 0;
    lay_out_windows(WindowShape(sizes), nullptr, nullptr, &bytes);
    return bytes;
  }
  void adopt(const SpmmSizes& sizes, void* workspace) {
    shape_ = WindowShape(sizes);
    lay_out_windows(shape_, static_cast<std::byte*>(workspace), &workspace_, nullptr);
  }
  void analyse(const DeviceCsrView<float>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    fill_windows(a, shape_, workspace_, stream);
  }
  void finish_analysis(void*, cudaStream_t) const {}

  void launch(const DeviceCsrView<float>& a, const DeviceDenseView<const float>& b,
              const DeviceDenseView<float>& c, float alpha, float beta, void*,
              cudaStream_t stream) const {
    if (shape_.blocks == 0) return;
    split_b(b, shape_, workspace_, stream);
    const WindowOperands operands{a, b, c, alpha, beta, shape_, workspace_};
    if (shape_.tile_cols == 32) return launch_tiles<32>(operands, stream);
    if (shape_.tile_cols == 64) return launch_tiles<64>(operands, stream);
    launch_tiles<128>(operands, stream);
  }

  std::string choice() const {
    return std::to_string(shape_.row_tiles) + " x " + std::to_string(shape_.windows) +
           " windows of " + std::to_string(kTileRows) + " x " + std::to_string(kWindowCols) +
           ", tiles of " + std::to_string(shape_.tile_cols) + " columns of C";
  }

 private:
  template <int kTileCols>
  void launch_tiles(const WindowOperands& operands, cudaStream_t stream) const {
    using Layout = TileLayout<kTileCols>;
    constexpr auto kSharedBytes = static_cast<int>(sizeof(WindowsInShared<kTileCols>));
    CHECK_CUDA(cudaFuncSetAttribute(multiply_windows<kTileCols>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
    const auto blocks = static_cast<unsigned>(shape_.blocks);
    launch_early(multiply_windows<kTileCols>, blocks, kWindowThreads, kSharedBytes, stream,
                 operands);
    CHECK_LAUNCH("multiply_windows", stream);
    launch_early(add_parts<kTileCols>, dim3(blocks, Layout::kHigh * Layout::kWide), kMultipliers, 0,
                 stream, operands);
    CHECK_LAUNCH("add_parts", stream);
  }

  WindowShape shape_;
  WindowWorkspace workspace_;
};

}  // namespace

std::string why_no_dense_windows(const SpmmProblem& problem) {
  constexpr double kManyElements = 1e8, kFewestInAWindow = 2.5;
  const CsrMatrix& a = problem.a;
  const double elements = static_cast<double>(a.rows()) * static_cast<double>(a.cols());
  const double windows = elements / (kTileRows * kWindowCols);
  if (elements > kManyElements && static_cast<double>(a.nnz()) < kFewestInAWindow * windows) {
    return "most windows of A would be empty: it has " + std::to_string(a.nnz()) + " nonzeros in " +
           std::to_string(a.rows()) + " x " + std::to_string(a.cols());
  }
  const int has = current_shared_bytes();
  constexpr auto kNeeds = static_cast<int>(sizeof(WindowsInShared<128>));
  if (has < kNeeds) {
    return "a block needs " + std::to_string(kNeeds) +
           " bytes of shared memory, this device gives it " + std::to_string(has);
  }
  return {};
}

std::unique_ptr<DeviceSpmm> make_device_dense_windows(const SpmmProblem& problem) {
  if (const std::string reason = why_no_dense_windows(problem); !reason.empty()) {
    throw UsageError("dense_windows cannot do this: " + reason + "; use row_bins, or auto");
  }
  using Types = SpmmTypes<float, float>;
  return std::make_unique<TypedSpmm<Types, DenseWindows<Types>>>();
}

}  // namespace csrkit::gpu
