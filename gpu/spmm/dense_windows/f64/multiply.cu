// dense_windows in f64: windows of A as dense matrices, multiplied by the tensor cores for f64.
// Owns     a block: the same number of windows of 128 rows x 32 columns of A, one tile of C after
//          another; a multiplying warp: 16 or 32 rows x 32 columns of a tile of 128 x 32 or 64; the
//          bringing warps: all loads of a window. Sums of tiles that several blocks share go to the
//          workspace; a last kernel adds them up in the blocks' order
// Reads    A's entries from lists by window, coalesced, which go into a cleared dense matrix in
//          shared memory; B as it is, by asynchronous copies. Three windows in flight, 123 or 147
//          KB of shared memory a block
// Launch   384 threads, 1 block per multiprocessor; eight warps multiply, four load
// Needs    columns unique in every row, as everywhere. Sums that are not finite are made again by
//          FMAs, from the entries alone; plus and times
// Against  row_bins: no gathering; tensor cores do 128 products in a cycle, FMAs 64, and a gather
//          brings 4 to 8 numbers. Still bad: the work is that of a dense matrix, whatever A is
// Akin to  its f32 sibling, which names TC-GNN; f64 needs neither halves nor scales

#include "gpu/device/cuda_check.h"
#include "gpu/device/launch_early.cuh"
#include "gpu/spmm/dense_windows/f64/bring.cuh"
#include "gpu/spmm/dense_windows/tiles.cuh"

namespace csrkit::gpu {

using namespace dense_windows_f64;

namespace {

using Types = SpmmTypes<double, double>;

/// sums += x y: 16 x 8 times 8 x 8. Lane (g, t) has rows g and g + 8 of x in columns t (x[0]) and t
/// + 4, column g of y in rows t and t + 4, and columns 2 t and 2 t + 1 of the sums.
__device__ void multiply_add(double (&sums)[4], const double2 (&x)[2], const double (&y)[2]) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(x[0].x), "d"(x[0].y), "d"(x[1].x), "d"(x[1].y), "d"(y[0]), "d"(y[1]));
#else
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(sums[2 * half]), "+d"(sums[2 * half + 1])
                   : "d"(half == 0 ? x[k].x : x[k].y), "d"(y[k]));
    }
  }
#endif
}

/// A sum of C from A's entries alone. Not inlined: it is hardly ever called.
__device__ __noinline__ double sum_of_entries(DeviceCsrView<double> a,
                                              DeviceDenseView<const double> b, Offset row,
                                              Offset column) {
  double sum = 0;
  const Offset end = a.row_end(static_cast<Index>(row));
  for (Offset at = a.row_begin(static_cast<Index>(row)); at < end; ++at) {
    const double x = a.values == nullptr ? 1 : __ldg(a.values + at);
    sum = fma(x, __ldg(b.data + Offset{__ldg(a.col_indices + at)} * b.leading_dim + column), sum);
  }
  return sum;
}

/// Writes a thread's fragments of sums to a tile of C.
template <int kTileCols>
class TileWriter {
  using Layout = TileLayout<kTileCols>;

 public:
  __device__ TileWriter(const WindowOperands<Types>& op, Offset tile)
      : op_(op),
        to_(op),
        row_(tile / op.shape.col_tiles * kTileRows + Layout::first_row() + threadIdx.x % 32 / 4),
        column_(tile % op.shape.col_tiles * kTileCols + Layout::first_col() + threadIdx.x % 4 * 2) {
  }

  __device__ void write(int m, int n, const double (&sums)[4]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Offset row = row_ + m * 16 + half * 8, column = column_ + n * 8;
      if (row >= op_.c.rows) continue;
      double pair[2] = {sums[half * 2], sums[half * 2 + 1]};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        // Numbers of B where A has no entry may have reached it.
        if (!isfinite(pair[i]) && column + i < op_.c.cols) {
          pair[i] = sum_of_entries(op_.a, op_.b, row, column + i);
        }
      }
      to_.write(row, column, pair[0], pair[1]);
    }
  }

 private:
  const WindowOperands<Types>& op_;
  const PairWriter<Types> to_;
  const Offset row_, column_;
};

/// Multiplies one tile of C after another.
template <int kTileCols>
class WindowMultiplier {
  using Layout = TileLayout<kTileCols>;
  static constexpr int kHigh = Layout::kHigh, kWide = Layout::kWide;

 public:
  __device__ explicit WindowMultiplier(const WindowOperands<Types>& op) : op_(op) {}

  __device__ void multiply(StagesInShared<kTileCols>& shared, Offset unit, Offset end) {
    for_tiles(
        op_.shape, shared, unit, end, [&] { sums_.clear(); },
        [&](const Stage<kTileCols>& stage) { add(stage); },
        [&](Offset tile, bool is_whole) {
          if (is_whole) {
            sums_.write(TileWriter<kTileCols>(op_, tile));
          } else {
            sums_.leave(op_.workspace.partial + op_.shape.first_of_part(blockIdx.x, tile));
          }
        });
  }

 private:
  __device__ void add(const Stage<kTileCols>& stage) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int step = 0; step < kWindowCols / 8; ++step) {
      double2 x[kHigh][2];
#pragma unroll
      for (int m = 0; m < kHigh; ++m) {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const double* a =
              stage.a + a_place(Layout::first_row() + m * 16 + g, step * 8 + k * 4 + t);
          x[m][k] = *reinterpret_cast<const double2*>(a);
        }
      }
#pragma unroll
      for (int n = 0; n < kWide; ++n) {
        const double* b =
            stage.b + b_place<kTileCols>(step * 8 + t, Layout::first_col() + n * 8 + g);
        const double y[2] = {b[0], b[4 * kTileCols]};
#pragma unroll
        for (int m = 0; m < kHigh; ++m) multiply_add(sums_.fragments[m][n], x[m], y);
      }
    }
  }

  const WindowOperands<Types>& op_;
  TileSums<double, kTileCols> sums_;
};

template <int kTileCols>
__global__ void __launch_bounds__(kWindowThreads, 1)
    multiply_windows(const WindowOperands<Types> op) {
  extern __shared__ __align__(128) std::byte shared_bytes[];
  auto& shared = *reinterpret_cast<StagesInShared<kTileCols>*>(shared_bytes);
  const Offset unit = op.shape.first_unit(blockIdx.x);
  const Offset end = op.shape.first_unit(Offset{blockIdx.x} + 1);
  if (threadIdx.x == 0) {
    for (std::uint64_t& full : shared.full) detail::barrier_init(&full, 2 * kBringers);
  }
  let_next_kernel_begin();
  __syncthreads();
  if (threadIdx.x >= kMultipliers) {
    WindowBringer<kTileCols>(op, shared, unit, end).bring();
  } else {
    WindowMultiplier<kTileCols>(op).multiply(shared, unit, end);
  }
}

/// Adds up the parts of tiles that several blocks share.
template <int kTileCols>
__global__ void __launch_bounds__(kMultipliers) add_parts(const WindowOperands<Types> op) {
  using Layout = TileLayout<kTileCols>;
  wait_for_kernel_before();
  const auto fragment = static_cast<int>(blockIdx.y);
  add_parts_of_fragment(op.shape, op.workspace.partial, fragment,
                        [&](Offset tile, const double(&sums)[4]) {
                          TileWriter<kTileCols>(op, tile).write(fragment / Layout::kWide,
                                                                fragment % Layout::kWide, sums);
                        });
}

template <int kTileCols>
void launch_tiles(const WindowOperands<Types>& operands, cudaStream_t stream) {
  using Layout = TileLayout<kTileCols>;
  constexpr auto kSharedBytes = static_cast<int>(sizeof(StagesInShared<kTileCols>));
  CHECK_CUDA(cudaFuncSetAttribute(multiply_windows<kTileCols>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  const auto blocks = static_cast<unsigned>(operands.shape.blocks);
  multiply_windows<kTileCols><<<blocks, kWindowThreads, kSharedBytes, stream>>>(operands);
  CHECK_LAUNCH("multiply_windows", stream);
  launch_early(add_parts<kTileCols>, dim3(blocks, Layout::kHigh * Layout::kWide), kMultipliers, 0,
               stream, operands);
  CHECK_LAUNCH("add_parts", stream);
}

}  // namespace

int f64_window_shared_bytes() { return sizeof(StagesInShared<64>); }

template <>
void multiply_by_windows(const WindowOperands<Types>& operands, cudaStream_t stream) {
  if (operands.shape.tile_cols == 32) return launch_tiles<32>(operands, stream);
  launch_tiles<64>(operands, stream);
}

}  // namespace csrkit::gpu
