// Passes over n x columns vectors on the device. Every sum has a fixed order: the number of blocks
// depends only on n, and one block adds up their sums.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_buffer.h"
#include "gpu/solve/column.h"

namespace csrkit::gpu {

/// The state of an iteration in T on the device: plain data, passed by value.
template <class T>
struct CgState {
  Index rows = 0, columns = 0;
  T* x = nullptr;
  T* best = nullptr;
  T* r = nullptr;
  T* z = nullptr;  // r itself without a preconditioner
  T* p = nullptr;
  T* q = nullptr;
  const T* inverse_diagonal = nullptr;  // of M where that is diagonal, else null
  CgColumn* column = nullptr;           // one for each column
  CgRecord* records = nullptr;          // kRecordedIterations rows, one record per column
  Index* iteration = nullptr;           // one for each column: the next row of `records`
  double* partials = nullptr;           // kPartialSums * kSumBlocks per column
  unsigned* done_blocks = nullptr;      // per column: 0 between launches
  unsigned* barrier = nullptr;          // of persistent kernels: 0 at first

  CSRKIT_HOST_DEVICE bool is_plain() const { return z == r; }  // no preconditioner
};

inline constexpr int kThreads = 256;
inline constexpr int kSumBlocks = 1024;
inline constexpr int kPartialSums = 4;  // two sums at a time, twice where one launch makes all
inline constexpr Index kRecordedIterations = 1024;

/// Blocks for `rows` rows of a column: four rows a thread, at most kSumBlocks blocks.
inline int blocks_for(Index rows) {
  const Offset wanted = (Offset{rows} + 4 * kThreads - 1) / (4 * kThreads);
  return static_cast<int>(wanted < 1 ? 1 : wanted > kSumBlocks ? kSumBlocks : wanted);
}

/// Which scalars follow from the sums of a launch.
enum class After { begin, product, residual };

/// How the sums of blocks are added up. partial: each has a place, and a second kernel adds them in
/// order. atomic: atomics add them to the first place.
enum class Summation { partial, atomic };

// Single steps, for the first rungs. Sums go to `partials`; launch_finish adds them up.
template <class T>
void launch_dot(const CgState<T>& state, const T* a, const T* b, int which, Summation how,
                cudaStream_t stream);
template <class T>
void launch_add_to_residual(const CgState<T>& state, cudaStream_t stream);  // r -= alpha q
template <class T>
void launch_scale_residual(const CgState<T>& state, cudaStream_t stream);  // z = M^-1 r, diagonal
template <class T>
void launch_add_to_solution(const CgState<T>& state, cudaStream_t stream);  // x += alpha p
template <class T>
void launch_new_directions(const CgState<T>& state, cudaStream_t stream);  // p = z + beta p
/// Adds up `partials` into `sums`: two per column, 2 * columns numbers.
template <class T>
void launch_finish_sums(const CgState<T>& state, double* sums, cudaStream_t stream);
/// Adds up `partials` and updates every column's scalars.
template <class T>
void launch_finish(const CgState<T>& state, After after, Summation how, cudaStream_t stream);

// Three fused passes, each finished by its last block.
template <class T>
void launch_fused_product(const CgState<T>& state, cudaStream_t stream);  // p'q
/// r -= alpha q, z = M^-1 r, r'r and r'z, for a diagonal M or none.
template <class T>
void launch_fused_residual(const CgState<T>& state, cudaStream_t stream);
template <class T>
void launch_fused_sums(const CgState<T>& state, After after, cudaStream_t stream);  // r'r, r'z
template <class T>
void launch_fused_directions(const CgState<T>& state, cudaStream_t stream);  // x, p

/// Copies the best iterate to x, in columns where x is a worse one.
template <class T>
void launch_restore_best(const CgState<T>& state, cudaStream_t stream);

}  // namespace csrkit::gpu
