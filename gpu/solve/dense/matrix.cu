#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/solve/dense/matrix.h"

namespace csrkit::gpu {

namespace {

constexpr int kBlockThreads = 256;

/// Places one row of tiles, read from a strip of whole rows: a block per row, its first `cols`
/// columns.
template <class From, class To>
__global__ void place_strip(const From* strip, Index rows, Index strip_rows, Offset cols, To* to,
                            Offset pitch, SquareLayout layout) {
  const auto row = static_cast<Offset>(blockIdx.x);
  for (Offset col = threadIdx.x; col < cols; col += kBlockThreads) {
    const bool is_there = row < strip_rows && col < rows;
    const To value = is_there ? static_cast<To>(strip[row * rows + col]) : To{0};
    const Offset place =
        layout == SquareLayout::full
            ? row * pitch + col
            : (col / kSquareTile * kSquareTile + row) * kSquareTile + col % kSquareTile;
    to[place] = value;
  }
}

}  // namespace

DeviceSquare::DeviceSquare(DeviceMemory& memory, const DenseMatrix& a, ValueKind kind,
                           SquareLayout layout)
    : kind_(kind), layout_(layout), rows_(a.rows()) {
  const Offset strips = (Offset{rows_} + kSquareTile - 1) / kSquareTile;
  pitch_ = strips * kSquareTile;
  const bool is_full = layout == SquareLayout::full;
  const Offset elements =
      is_full ? pitch_ * pitch_ : tiles_before(strips) * kSquareTile * kSquareTile;
  const ConstDenseView from = a.view();
  const Offset row_bytes = Offset{rows_} * size_of(from.kind);
  memory.require(static_cast<std::uint64_t>(elements * size_of(kind) + kSquareTile * row_bytes),
                 "the dense matrix");
  data_ = DeviceBuffer<std::byte>(memory, elements * size_of(kind), "the dense matrix");
  const DeviceBuffer<std::byte> strip(memory, kSquareTile * row_bytes, "rows on their way");
  const cudaStream_t stream = memory.stream();
  for (Offset i = 0; i < strips; ++i) {
    const Index first = static_cast<Index>(i * kSquareTile);
    const Index count = std::min(kSquareTile, rows_ - first);
    CHECK_CUDA(cudaMemcpy2DAsync(
        strip.data(), static_cast<std::size_t>(row_bytes),
        static_cast<const std::byte*>(from.data) + first * from.leading_dim * size_of(from.kind),
        static_cast<std::size_t>(from.leading_dim * size_of(from.kind)),
        static_cast<std::size_t>(row_bytes), static_cast<std::size_t>(count),
        cudaMemcpyHostToDevice, stream));
    const Offset before = is_full ? first * pitch_ : tiles_before(i) * kSquareTile * kSquareTile;
    const Offset cols = is_full ? pitch_ : (i + 1) * kSquareTile;
    const auto place = [&](auto from_zero, auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      place_strip<From, To><<<kSquareTile, kBlockThreads, 0, stream>>>(
          reinterpret_cast<const From*>(strip.data()), rows_, count, cols,
          reinterpret_cast<To*>(data_.data()) + before, pitch_, layout);
      CHECK_LAUNCH("place_strip", stream);
    };
    if (from.kind == ValueKind::f32) {
      kind == ValueKind::f32 ? place(0.0f, 0.0f) : place(0.0f, 0.0);
    } else {
      kind == ValueKind::f32 ? place(0.0, 0.0f) : place(0.0, 0.0);
    }
  }
  CHECK_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace csrkit::gpu
