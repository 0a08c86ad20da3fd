// A^T on the device: a radix sort of (column, position). It is stable, so rows stay ascending and
// the result has the same bits in every run. Then each entry fetches its row and value.

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;

__device__ Offset global_thread() { return Offset{blockIdx.x} * kThreads + threadIdx.x; }

__global__ void number_entries(std::uint32_t* positions, Offset count) {
  const Offset at = global_thread();
  if (at < count) positions[at] = static_cast<std::uint32_t>(at);
}

/// One warp per row.
__global__ void write_rows(DeviceOffsets row_offsets, Index rows, Index* row_of_entry) {
  const Offset row = global_thread() / kWarpLanes;
  if (row >= rows) return;
  const Offset end = row_offsets[row + 1];
  for (Offset at = row_offsets[row] + threadIdx.x % kWarpLanes; at < end; at += kWarpLanes) {
    row_of_entry[at] = static_cast<Index>(row);
  }
}

/// Row `col` of A^T begins at the first entry whose column is not below it. Found by binary search:
/// with a thread per entry, one thread would write the offsets of a long range of empty columns
/// alone.
__global__ void write_offsets(const Index* sorted_cols, Offset nnz, Index cols,
                              std::uint32_t* offsets) {
  const Offset col = global_thread();
  if (col > cols) return;
  Offset below = 0, count = nnz;
  while (count > 0) {
    const Offset half = count / 2;
    if (sorted_cols[below + half] < col) {
      below += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  offsets[col] = static_cast<std::uint32_t>(below);
}

template <class Word>
__global__ void gather_entries(const std::uint32_t* positions, Offset nnz,
                               const Index* row_of_entry, const Word* values, Index* col_indices,
                               Word* sorted_values) {
  const Offset at = global_thread();
  if (at >= nnz) return;
  const std::uint32_t from = positions[at];
  col_indices[at] = row_of_entry[from];
  if (values != nullptr) sorted_values[at] = values[from];
}

int bits_of(Index cols) {
  int bits = 1;
  while (bits < 31 && (Offset{1} << bits) < cols) ++bits;
  return bits;
}

}  // namespace

bool DeviceCsr::can_transpose(Offset nnz) { return nnz <= kMaxIndex; }

std::uint64_t DeviceCsr::transpose_bytes(Index cols, Offset nnz, ValueKind kind) {
  const auto entries = static_cast<std::uint64_t>(nnz);
  const auto value_bytes = static_cast<std::uint64_t>(size_of(kind));
  const std::uint64_t offsets = (static_cast<std::uint64_t>(cols) + 1) * sizeof(std::uint32_t);
  if (nnz == 0) return offsets;
  const std::uint64_t sorted = entries * (sizeof(Index) + 2 * sizeof(std::uint32_t));
  // Without a DoubleBuffer CUB copies both arrays once more.
  const std::uint64_t sorting =
      entries * (sizeof(Index) + sizeof(std::uint32_t)) + sort_scratch_bound(nnz);
  const std::uint64_t result = entries * (sizeof(Index) + value_bytes);
  return offsets + sorted + std::max(sorting, result);
}

DeviceCsr DeviceCsr::transposed(DeviceMemory& memory) const {
  const cudaStream_t stream = memory.stream();
  DeviceCsr result;
  result.rows_ = cols_;
  result.cols_ = rows_;
  result.nnz_ = nnz_;
  result.kind_ = kind_;
  result.narrow_offsets_ = DeviceBuffer<std::uint32_t>(memory, Offset{cols_} + 1, "offsets of A^T");
  if (nnz_ == 0) {
    CHECK_CUDA(cudaMemsetAsync(result.narrow_offsets_.data(), 0,
                               result.narrow_offsets_.size_bytes(), stream));
    return result;
  }
  const int bits = bits_of(cols_);
  const DeviceBuffer<Index> sorted_cols(memory, nnz_, "sorting A by column");
  const DeviceBuffer<std::uint32_t> positions(memory, nnz_, "sorting A by column");
  const DeviceBuffer<std::uint32_t> sorted_positions(memory, nnz_, "sorting A by column");
  number_entries<<<blocks_of(nnz_, kThreads), kThreads, 0, stream>>>(positions.data(), nnz_);
  CHECK_LAUNCH("number_entries", stream);
  with_cub_scratch(memory, "sorting A by column", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, col_indices(), sorted_cols.data(),
                                           static_cast<const std::uint32_t*>(positions.data()),
                                           sorted_positions.data(), nnz_, 0, bits, stream);
  });
  write_offsets<<<blocks_of(Offset{cols_} + 1, kThreads), kThreads, 0, stream>>>(
      sorted_cols.data(), nnz_, cols_, result.narrow_offsets_.data());
  CHECK_LAUNCH("write_offsets", stream);

  auto* row_of_entry = reinterpret_cast<Index*>(positions.data());  // no longer needed
  write_rows<<<blocks_of(Offset{rows_} * kWarpLanes, kThreads), kThreads, 0, stream>>>(
      offsets(), rows_, row_of_entry);
  CHECK_LAUNCH("write_rows", stream);
  result.col_indices_ = DeviceBuffer<Index>(memory, nnz_, "column indices of A^T");
  result.values_ = DeviceBuffer<std::byte>(memory, nnz_ * size_of(kind_), "values of A^T");
  const auto gather = [&](auto word) {
    using Word = decltype(word);
    gather_entries<<<blocks_of(nnz_, kThreads), kThreads, 0, stream>>>(
        sorted_positions.data(), nnz_, row_of_entry, static_cast<const Word*>(values()),
        result.col_indices_.data(), reinterpret_cast<Word*>(result.values_.data()));
    CHECK_LAUNCH("gather_entries", stream);
  };
  switch (size_of(kind_)) {
    case 8: gather(std::uint64_t{}); break;
    case 4: gather(std::uint32_t{}); break;
    default: gather(std::uint16_t{}); break;  // 16 bits, or no values
  }
  return result;
}

}  // namespace csrkit::gpu
