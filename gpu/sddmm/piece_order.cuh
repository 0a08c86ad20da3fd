// Sorts pieces by their first column: pieces that run at the same time then read the same part of
// Y, whichever rows they belong to.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include "core/base/types.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/workspace_layout.h"

namespace csrkit::gpu::sddmm {

template <class FirstCol>
__global__ void __launch_bounds__(256)
    number_pieces(FirstCol first_col, Index count, Index* first_cols, Index* numbers) {
  const Offset piece = Offset{blockIdx.x} * 256 + threadIdx.x;
  if (piece >= count) return;
  first_cols[piece] = first_col(static_cast<Index>(piece));
  numbers[piece] = static_cast<Index>(piece);
}

class PieceOrder {
 public:
  PieceOrder() = default;
  explicit PieceOrder(Index count) : count_(count) { sort(nullptr, cub_bytes_, {}, nullptr); }

  std::uint64_t workspace_bytes() const { return kArrays * array_bytes() + cub_bytes_; }

  /// Queues the sort. first_col(piece) is called on the device. Afterwards the workspace begins
  /// with the order, `count` numbers.
  template <class FirstCol>
  void find(FirstCol first_col, void* workspace, cudaStream_t stream) const {
    auto* const bytes = static_cast<std::byte*>(workspace);
    const auto array = [&](int i) { return reinterpret_cast<Index*>(bytes + i * array_bytes()); };
    const Arrays arrays{array(1), array(2), array(3), array(0)};
    number_pieces<<<blocks_of(count_, 256), 256, 0, stream>>>(first_col, count_, arrays.cols,
                                                              arrays.numbers);
    CHECK_LAUNCH("number_pieces", stream);
    std::size_t cub_bytes = cub_bytes_;
    sort(array(kArrays), cub_bytes, arrays, stream);
  }

 private:
  static constexpr int kArrays = 4;
  struct Arrays {
    Index *cols, *sorted_cols, *numbers, *order;
  };

  std::uint64_t array_bytes() const {
    return WorkspaceLayout::aligned(static_cast<std::uint64_t>(count_) * sizeof(Index));
  }
  void sort(void* scratch, std::size_t& bytes, const Arrays& arrays, cudaStream_t stream) const {
    CHECK_CUDA(cub::DeviceRadixSort::SortPairs(scratch, bytes, arrays.cols, arrays.sorted_cols,
                                               arrays.numbers, arrays.order, count_, 0,
                                               static_cast<int>(8 * sizeof(Index)), stream));
  }

  Index count_ = 0;
  std::size_t cub_bytes_ = 0;
};

}  // namespace csrkit::gpu::sddmm
