// dense_tiles: rows of B spread out, for products where B is nearly dense. What its files share.
#pragma once

#include <memory>
#include <string>

#include "core/contract/spgemm.h"
#include "gpu/device/device_csr.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// 128 neighbouring columns; their bits are one load of 16 bytes.
inline constexpr int kQuadCols = 128;

/// Columns of `rows` rows as bits, `quads` x 128 in a row; those beyond the last column are 0.
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

/// What the kernels know of an operand beside it: which columns a row has, and how many before each
/// quad, quads + 1 numbers a row.
struct SpreadColumns {
  ColumnBits bits;
  std::uint32_t* starts = nullptr;
};

/// The shape of the kernel that makes values. A block keeps 512 bytes of columns of `depth` rows of
/// B in shared memory and adds up those columns for 128 rows of C, 16 to a warp, in registers.
struct TileShape {
  static constexpr int kThreads = 256;
  static constexpr int kRowsOfWarp = 16;
  static constexpr int kRowsOfBlock = kThreads / 32 * kRowsOfWarp;
  static constexpr int kRowBytes = 512;   // 16 a lane: one load without conflicts
  static constexpr int kMostDepth = 208;  // two blocks on a multiprocessor of 227 KiB
};

/// Why dense_tiles refuses this problem; "" if it does not. It takes plus-times alone, and matrices
/// whose bits, those of B and C, need 48 MiB or half the memory of A and B at most.
std::string why_no_dense_tiles(const SpgemmProblem& problem);

/// dense_tiles with or without tensor cores, for tests; the row of kernels.inc asks how dense A is.
/// Throws UsageError that says why_no_dense_tiles.
std::unique_ptr<DeviceSpgemm> make_dense_tiles(const SpgemmProblem& problem, bool on_tensor_cores);

/// Fills both arrays of `spread`.
void spread_columns(const DeviceCsrView<float>& b, const SpreadColumns& spread,
                    cudaStream_t stream);

/// The columns of every row of C = A B, and how many there are; counts[rows] becomes 0.
void mark_columns(const DeviceCsrView<float>& a, const ColumnBits& of_b, Index cols,
                  const SpreadColumns& c, std::uint32_t* counts, cudaStream_t stream);

/// The rows of A, long ones first (by steps of 1/1024 of its columns), in `order`.
void order_by_length(const DeviceCsrView<float>& a, Index* order, cudaStream_t stream);

/// Rows of A that meet a number that is not finite, in A or in B.
struct SpecialRows {
  std::uint8_t* is_special = nullptr;  // of every row
  Index* rows = nullptr;
  std::uint32_t* counts = nullptr;  // how many; whether B has such a number
};

/// C's arrays: offsets are complete; col_indices null if they stand there already.
template <class Value>
struct DenseTiles {
  DeviceCsrView<Value> a, b;
  SpreadColumns spread;    // of B
  SpreadColumns spread_a;  // on tensor cores only
  SpreadColumns spread_c;
  const Index* order;           // the rows to be made, and
  const std::uint32_t* listed;  // how many; null: all
  const std::uint8_t* is_special;
  DeviceOffsets row_offsets;
  Index* col_indices;
  Value* values;
  Value alpha;
};
template <class Value>
void make_dense_tiles(const DenseTiles<Value>& op, int device, cudaStream_t stream);

/// Both operands dense, on tensor cores: all rows that are not special. `alpha` as it was given.
template <class Value>
void find_special_rows(const DenseTiles<Value>& op, const SpecialRows& special,
                       cudaStream_t stream);
template <class Value>
void multiply_dense_tiles(const DenseTiles<Value>& op, double alpha, cudaStream_t stream);

}  // namespace csrkit::gpu
