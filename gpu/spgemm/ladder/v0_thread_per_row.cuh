// v0_thread_per_row: one thread computes one row of C, a tile of columns at a time.
// Owns     a thread: one row; its tile of 512 sums and the bits that say which of them exist
// Reads    everything through a pointer to a struct in device memory, members again at every use:
//          the compiler cannot know that the stores leave them alone. All rows of B of the row are
//          read again for every tile of columns.
// Launch   64 threads: the tile lies in local memory (4 KiB in f64, laid out by the driver for as
//          many threads as the machine holds, in nobody's account), so more threads only spill
//          further
// Needs    nothing
// Against  the first rung. An entry of C exists if a product says so, whatever the sum: the bits,
//          not the sums, are asked, so sums that cancel and stored zeros stay. Bad: neighbouring
//          threads read far apart; a long row is one thread's work; every entry of C is an atomic
//          on the same address.

#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/ladder/rung.h"

namespace csrkit::gpu {

template <class Value>
struct ProblemInMemory {
  DeviceCsrView<Value> a, b;
  Value alpha;
  CooArrays<Value> c;
};

template <int kBlock, int kTile, class Value>
__global__ void __launch_bounds__(kBlock) thread_per_row(const ProblemInMemory<Value>* problem) {
  const Offset row = Offset{blockIdx.x} * kBlock + threadIdx.x;
  if (row >= problem->a.rows) return;
  Value sums[kTile];
  unsigned exists[kTile / kWordBits];
  for (Offset first = 0; first < problem->b.cols; first += kTile) {
    for (int i = 0; i < kTile; ++i) sums[i] = 0;
    for (int i = 0; i < kTile / kWordBits; ++i) exists[i] = 0;
    for (Offset i = problem->a.row_begin(static_cast<Index>(row));
         i < problem->a.row_end(static_cast<Index>(row)); ++i) {
      for (Offset j = problem->b.row_begin(problem->a.col_indices[i]);
           j < problem->b.row_end(problem->a.col_indices[i]); ++j) {
        if (problem->b.col_indices[j] >= first && problem->b.col_indices[j] < first + kTile) {
          const int place = static_cast<int>(problem->b.col_indices[j] - first);
          sums[place] += (problem->a.values == nullptr ? Value{1} : problem->a.values[i]) *
                         (problem->b.values == nullptr ? Value{1} : problem->b.values[j]);
          exists[place / kWordBits] |= 1u << place % kWordBits;
        }
      }
    }
    for (int place = 0; place < kTile; ++place) {  // write-back
      if (exists[place / kWordBits] >> place % kWordBits & 1u) {
        const unsigned long long at = atomicAdd(problem->c.count, 1ull);
        problem->c.rows[at] = static_cast<Index>(row);
        problem->c.cols[at] = static_cast<Index>(first + place);
        problem->c.values[at] = problem->alpha * sums[place];
      }
    }  // write-back ends
  }
}

template <int kBlock, int kTile>
struct ThreadPerRow {
  template <class Value>
  static void append(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Value alpha,
                     const CooArrays<Value>& c, DeviceMemory& memory) {
    const DeviceBuffer<ProblemInMemory<Value>> problem(memory, 1,
                                                       "the problem as the device sees it");
    const ProblemInMemory<Value> on_host = {a, b, alpha, c};
    CHECK_CUDA(cudaMemcpyAsync(problem.data(), &on_host, sizeof on_host, cudaMemcpyHostToDevice,
                               memory.stream()));
    const Offset blocks = (Offset{a.rows} + kBlock - 1) / kBlock;
    thread_per_row<kBlock, kTile>
        <<<static_cast<unsigned>(blocks), kBlock, 0, memory.stream()>>>(problem.data());
    CHECK_LAUNCH("thread_per_row", memory.stream());
  }
};

}  // namespace csrkit::gpu
