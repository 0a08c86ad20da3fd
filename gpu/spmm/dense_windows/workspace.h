// The workspace of dense_windows in either kind, and what its launches get.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/spmm/dense_windows/shape.h"

namespace csrkit::gpu {

/// An entry of a window: its place, and its scaled value in two halves, hi in the lower 16 bits.
struct WindowEntry {
  unsigned place;
  unsigned halves;
};

/// Device pointers into the workspace. The analysis copies A's entries window by window; their
/// order within a window differs from run to run and does not matter.
template <class T>
struct WindowWorkspace;

template <>
struct WindowWorkspace<float> {
  Offset* begins = nullptr;           // first entry of each window, and the end; in rows of tiles
  float* row_scales = nullptr;        // one for each row; 0: left to FMAs
  unsigned* fma_row_count = nullptr;  // of the next
  Index* fma_rows = nullptr;       // those left to FMAs, in an order that differs from run to run
  WindowEntry* entries = nullptr;  // nnz
  // one for each part of B: whether it has numbers that hi and lo cannot hold
  int* misfits = nullptr;
  std::byte* b_parts = nullptr;  // window by window, tile of columns by tile of columns
  float* partial = nullptr;      // two parts of a tile a block
  int* all_by_fma = nullptr;     // whether there are misfits
  unsigned* counts = nullptr;    // entries of each window, during the analysis
};

template <>
struct WindowWorkspace<double> {
  Offset* begins = nullptr;            // as above
  double* values = nullptr;            // nnz
  std::uint16_t* positions = nullptr;  // of these values in shared memory, in numbers; nnz
  double* partial = nullptr;           // as above
  unsigned* counts = nullptr;          // as above
};

template <class T>
struct WindowOperands {
  DeviceCsrView<T> a;
  DeviceDenseView<const T> b;
  DeviceDenseView<T> c;
  T alpha, beta;
  WindowShape shape;
  WindowWorkspace<T> workspace;
};

/// In f32, bytes of B's part of a window: hi and lo in the layout of shared memory, and the
/// columns' scales.
__host__ __device__ constexpr int b_part_bytes(int tile_cols) {
  return tile_cols * (window_cols_of(WindowKind::f32) * 4 + 4);
}

/// Lays out the workspace; if `base` is null, only computes its size. The first `analysis_bytes`
/// hold the analysis.
std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base,
                              WindowWorkspace<float>* workspace, std::uint64_t* analysis_bytes);
std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base,
                              WindowWorkspace<double>* workspace, std::uint64_t* analysis_bytes);

/// Queues the analysis: A's entries window by window and, in f32, the scales of A's rows.
void fill_windows(const DeviceCsrView<float>& a, const WindowShape& shape,
                  const WindowWorkspace<float>& workspace, cudaStream_t stream);
void fill_windows(const DeviceCsrView<double>& a, const WindowShape& shape,
                  const WindowWorkspace<double>& workspace, cudaStream_t stream);

/// Queues a multiplication.
void multiply_by_windows(const WindowOperands<float>& operands, cudaStream_t stream);
void multiply_by_windows(const WindowOperands<double>& operands, cudaStream_t stream);

/// The shared memory that a block needs, at most.
template <class T>
int window_shared_bytes();
template <>
int window_shared_bytes<float>();
template <>
int window_shared_bytes<double>();

}  // namespace csrkit::gpu
