// The workspace of dense_windows in every kind, and what its launches get.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/spmm/dense_windows/shape.h"

namespace csrkit::gpu {

/// An entry of a window: its place, and its scaled value in two halves, hi in the lower 16 bits.
struct WindowEntry {
  unsigned place;
  unsigned halves;
};

/// What of C tensor cores do not make, because of B's numbers.
enum class LeftToFmas { nothing, some_columns, everything };

/// Device pointers into the workspace, by the kind of sums. The analysis copies A's entries window
/// by window; their order within a window differs from run to run and does not matter.
template <class Accumulate>
struct WindowWorkspace;

template <>
struct WindowWorkspace<float> {
  Offset* begins = nullptr;           // first entry of each window, and the end; in rows of tiles
  float* row_scales = nullptr;        // one for each row; 0: left to FMAs
  unsigned* fma_row_count = nullptr;  // of the next
  Index* fma_rows = nullptr;       // those left to FMAs, in an order that differs from run to run
  WindowEntry* entries = nullptr;  // nnz
  // Misfits are columns of B with numbers that halves cannot hold.
  int* misfits = nullptr;                    // one for each part of B: whether it has any
  unsigned char* misfits_of_part = nullptr;  // one for each column of each part: whether it is one
  unsigned char* column_misfits = nullptr;   // one for each column: in any part; if there are any
  Index* misfit_list = nullptr;              // if there are few, in an order that differs
  unsigned* misfit_count = nullptr;          // of the list
  std::byte* b_parts = nullptr;              // window by window, tile of columns by tile of columns
  float* partial = nullptr;                  // two parts of a tile a block
  LeftToFmas* left_to_fmas = nullptr;
  unsigned* counts = nullptr;  // entries of each window, during the analysis
};

template <>
struct WindowWorkspace<double> {
  Offset* begins = nullptr;            // as above
  double* values = nullptr;            // nnz
  std::uint16_t* positions = nullptr;  // of these values in shared memory, in numbers; nnz
  double* partial = nullptr;           // as above
  unsigned* counts = nullptr;          // as above
};

template <class Types>
struct WindowOperands {
  DeviceCsrView<typename Types::Value> a;
  DeviceDenseView<const typename Types::Value> b;
  DeviceDenseView<typename Types::Output> c;
  typename Types::Accumulate alpha, beta;
  WindowShape shape;
  WindowWorkspace<typename Types::Accumulate> workspace;
};

/// Bytes of B's part of a window: its halves in the layout of shared memory, and the columns'
/// scales.
__host__ __device__ constexpr int b_part_bytes(int tile_cols, int halves) {
  return tile_cols * (window_cols_of(WindowKind::one_half) * 2 * halves + 4);
}

/// Lays out the workspace; if `base` is null, only computes its size. The first `analysis_bytes`
/// hold the analysis.
std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base,
                              WindowWorkspace<float>* workspace, std::uint64_t* analysis_bytes);
std::uint64_t lay_out_windows(const WindowShape& shape, std::byte* base,
                              WindowWorkspace<double>* workspace, std::uint64_t* analysis_bytes);

/// Queues the analysis: A's entries window by window and, but in f64, the scales of A's rows.
template <class Value, class Accumulate>
void fill_windows(const DeviceCsrView<Value>& a, const WindowShape& shape,
                  const WindowWorkspace<Accumulate>& workspace, cudaStream_t stream);

/// Queues a multiplication.
template <class Types>
void multiply_by_windows(const WindowOperands<Types>& operands, cudaStream_t stream);

/// The shared memory that a block needs, at most.
int f64_window_shared_bytes();
int halves_window_shared_bytes(WindowKind kind);

}  // namespace csrkit::gpu
