// dense_tiles: dense rows of B, for products where B is nearly dense. What its files share.
#pragma once

#include <memory>
#include <string>

#include "core/contract/spgemm.h"
#include "gpu/device/device_csr.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Words of a quad: the bits of 128 neighbouring columns are one load of 16 bytes.
inline constexpr int kQuadCols = 128;

/// The columns of `rows` rows as bits, `quads` quads in a row. Bits beyond the last column are 0.
struct ColumnBits {
  uint4* quads_of_rows = nullptr;
  Index quads = 0;

  static constexpr std::uint64_t bytes_for(Index rows, Index cols) {
    return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(quads_for(cols)) * 16;
  }
  static constexpr Index quads_for(Index cols) {
    return static_cast<Index>((Offset{cols} + kQuadCols - 1) / kQuadCols);
  }
};

/// Facts about an operand: the columns of every row as bits, and the number of entries before each
/// quad (quads + 1 numbers a row).
struct SpreadColumns {
  ColumnBits bits;
  std::uint32_t* starts = nullptr;
};

/// The shape of the kernel that makes values. A block holds 512 bytes of columns of `depth` rows of
/// B in shared memory, and adds up these columns of 128 rows of C in registers, 16 rows to a warp.
struct TileShape {
  static constexpr int kThreads = 256;
  static constexpr int kRowsOfWarp = 16;
  static constexpr int kRowsOfBlock = kThreads / 32 * kRowsOfWarp;
  static constexpr int kRowBytes = 512;   // 16 a lane: one load without conflicts
  static constexpr int kMostDepth = 208;  // two blocks on a multiprocessor of 227 KiB
};

/// "" if dense_tiles takes this problem, else why not. It takes only plus-times, and matrices whose
/// bits (of A, B and C) need at most 48 MiB or half the memory of A and B.
std::string why_no_dense_tiles(const SpgemmProblem& problem);

/// dense_tiles with or without tensor cores, for tests; the row of kernels.inc decides by the
/// density of A. Throws UsageError with why_no_dense_tiles.
std::unique_ptr<DeviceSpgemm> make_dense_tiles(const SpgemmProblem& problem, bool on_tensor_cores);

/// Fills both arrays of `spread`.
void spread_columns(const DeviceCsrView<float>& b, const SpreadColumns& spread,
                    cudaStream_t stream);

/// Finds the columns of every row of C = A B as bits, and counts them; counts[rows] becomes 0.
void mark_columns(const DeviceCsrView<float>& a, const ColumnBits& of_b, Index cols,
                  const SpreadColumns& c, std::uint32_t* counts, cudaStream_t stream);

/// Writes the rows of A to `order`, long ones first, in steps of 1/1024 of its columns.
void order_by_length(const DeviceCsrView<float>& a, Index* order, cudaStream_t stream);

/// Special rows of A meet an infinity or NaN, in A or in B: there a zero of a dense tile may not be
/// multiplied.
struct SpecialRows {
  std::uint8_t* is_special = nullptr;  // one for every row
  Index* rows = nullptr;
  std::uint32_t* counts = nullptr;  // their number; whether B has such a value
};

/// Operands and C's arrays: offsets are complete; col_indices is null if C has its columns already.
template <class Value>
struct DenseTiles {
  DeviceCsrView<Value> a, b;
  SpreadColumns spread;    // of B
  SpreadColumns spread_a;  // only on tensor cores
  SpreadColumns spread_c;
  const Index* order;           // the rows to make, and
  const std::uint32_t* listed;  // their number; null: all rows
  const std::uint8_t* is_special;
  DeviceOffsets row_offsets;
  Index* col_indices;
  Value* values;
  Value alpha;
};

/// Makes the rows that `op` lists, without tensor cores.
template <class Value>
void make_dense_tiles(const DenseTiles<Value>& op, int device, cudaStream_t stream);

/// Fills the three arrays of `special`.
template <class Value>
void find_special_rows(const DenseTiles<Value>& op, const SpecialRows& special,
                       cudaStream_t stream);

/// Makes all rows that are not special, with both operands dense, on tensor cores. `alpha` is in
/// float64, as the caller gave it.
template <class Value>
void multiply_dense_tiles(const DenseTiles<Value>& op, double alpha, cudaStream_t stream);

}  // namespace csrkit::gpu
