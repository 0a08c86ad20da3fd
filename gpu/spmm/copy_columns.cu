#include <algorithm>

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/cuda_check.h"
#include "gpu/spmm/copy_columns.h"
#include "gpu/spmm/pieces.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kEach = 16;  // elements in flight per thread
constexpr unsigned kPerBlock = kThreads * kEach;

/// Element by element, so that neighbouring threads read and write neighbours: assembling a vector
/// takes several loads of the same lines, and took twice as long. `magic` / 2^32 is slightly more
/// than 1 / to_cols: the high half of at * magic is at / to_cols for all `at` below 2^32 / to_cols.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    copy_elements(DeviceDenseView<const Value> from, Value* to, unsigned to_cols, unsigned magic,
                  Offset elements) {
  const Offset first = Offset{blockIdx.x} * kPerBlock;
  const Offset first_row = first / to_cols;
  const auto in_row = static_cast<unsigned>(first % to_cols);
  const Value* source = from.data + first_row * from.leading_dim;
  Value items[kEach];
#pragma unroll
  for (int u = 0; u < kEach; ++u) {
    const unsigned at = in_row + u * kThreads + threadIdx.x;
    const unsigned row = __umulhi(at, magic), col = at - row * to_cols;
    items[u] = {};
    if (first_row + row < from.rows && col < static_cast<unsigned>(from.cols)) {
      items[u] = load_once(source + Offset{row} * from.leading_dim + col);
    }
  }
#pragma unroll
  for (int u = 0; u < kEach; ++u) {
    const Offset at = first + u * kThreads + threadIdx.x;
    if (at < elements) to[at] = items[u];
  }
}

}  // namespace

Index copied_cols(const SpmmSizes& sizes, int value_bytes) {
  constexpr Offset kCopyBytes = 256 << 20, kMostBytes = 1 << 30;
  const Index vector = 16 / value_bytes, narrowest = 256 / value_bytes;
  const Index whole_cols = sizes.dense_cols_of_whole();
  if (value_bytes != 2 || whole_cols < kFewestUnaligned) return 0;
  if (whole_cols % unaligned_width(value_bytes) == 0) return 0;
  if (sizes.nnz_of_whole() < kReadsThatPay * sizes.cols) return 0;
  if (sizes.nnz_of_whole() * whole_cols < kProductsThatPay) return 0;
  const Offset col_bytes = std::max<Offset>(sizes.cols, 1) * value_bytes;
  if (col_bytes * narrowest > kMostBytes) return 0;
  const Offset most = std::max<Offset>(narrowest, kCopyBytes / col_bytes / narrowest * narrowest);
  constexpr Offset kMostCols = 32768;  // the limit of copy_elements' division by multiplication
  const Offset width = std::min(most, kMostCols);
  const Offset slices = (sizes.dense_cols + width - 1) / width;
  const auto even = static_cast<Index>((sizes.dense_cols + slices - 1) / slices);
  return (even + vector - 1) / vector * vector;
}

std::uint64_t copy_bytes(const SpmmSizes& sizes, int value_bytes) {
  return static_cast<std::uint64_t>(Offset{sizes.cols} * copied_cols(sizes, value_bytes)) *
         static_cast<std::uint64_t>(value_bytes);
}

template <class Value>
void copy_columns(const DeviceDenseView<const Value>& from, Value* to, Index to_cols,
                  cudaStream_t stream) {
  const Offset elements = Offset{from.rows} * to_cols;
  if (elements == 0) return;
  const Offset blocks = (elements + kPerBlock - 1) / kPerBlock;
  const auto cols = static_cast<unsigned>(to_cols);
  const auto magic = static_cast<unsigned>((std::uint64_t{1} << 32) / cols + 1);
  copy_elements<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(from, to, cols, magic,
                                                                        elements);
  CHECK_LAUNCH("copy_elements", stream);
}

template void copy_columns(const DeviceDenseView<const f16>&, f16*, Index, cudaStream_t);
template void copy_columns(const DeviceDenseView<const bf16>&, bf16*, Index, cudaStream_t);

}  // namespace csrkit::gpu
