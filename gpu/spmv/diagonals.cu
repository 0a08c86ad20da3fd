#include "gpu/device/cuda_check.h"
#include "gpu/device/scan.h"
#include "gpu/spmv/diagonals.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

namespace {

/// One thread per row. All rows of a stencil mark the same few places, so a thread that sees a mark
/// does not write it again. A stale line only costs a redundant store. A row of more than `most`
/// entries is not walked to its end: there are too many diagonals already.
__global__ void mark_diagonals(DeviceCsrView<void> a, Offset most, Offset* marks) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at >= a.rows) return;
  const auto row = static_cast<Index>(at);
  const Offset begin = a.row_begin(row), end = min(a.row_end(row), begin + most + 1);
  for (Offset i = begin; i < end; ++i) {
    Offset* const mark = marks + (a.col_indices[i] - at + a.rows - 1);
    if (*mark == 0) *mark = 1;
  }
}

__global__ void list_diagonals(const Offset* ranks, Offset possible, Offset rows, Index* offsets) {
  const Offset at = Offset{blockIdx.x} * kSpmvThreads + threadIdx.x;
  if (at < possible && ranks[at + 1] > ranks[at]) {
    offsets[ranks[at]] = static_cast<Index>(at - (rows - 1));
  }
}

}  // namespace

Diagonals find_diagonals(const DeviceCsrView<void>& a, Offset most, DeviceMemory& memory) {
  Diagonals diagonals;
  if (a.nnz == 0) return diagonals;
  const cudaStream_t stream = memory.stream();
  const Offset possible = Offset{a.rows} + a.cols - 1;
  diagonals.ranks = DeviceBuffer<Offset>(memory, possible + 1, "marks of diagonals");
  CHECK_CUDA(cudaMemsetAsync(diagonals.ranks.data(), 0, diagonals.ranks.size_bytes(), stream));
  mark_diagonals<<<spmv_blocks(a.rows), kSpmvThreads, 0, stream>>>(a, most, diagonals.ranks.data());
  CHECK_LAUNCH("mark_diagonals", stream);
  exclusive_sum(memory, diagonals.ranks.data(), diagonals.ranks.size());
  const Offset count = fetch(diagonals.ranks.data() + possible, stream);
  diagonals.count = static_cast<Index>(count > INT32_MAX ? INT32_MAX : count);
  if (count > most) return diagonals;
  diagonals.offsets = DeviceBuffer<Index>(memory, count, "offsets of diagonals");
  list_diagonals<<<spmv_blocks(possible), kSpmvThreads, 0, stream>>>(
      diagonals.ranks.data(), possible, a.rows, diagonals.offsets.data());
  CHECK_LAUNCH("list_diagonals", stream);
  return diagonals;
}

}  // namespace csrkit::gpu
