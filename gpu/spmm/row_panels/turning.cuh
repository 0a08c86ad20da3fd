// Rows of B and C that begin anywhere within a vector: a warp reads the aligned vectors that cover
// a row, and its sums turn to where the next row begins.
#pragma once

#include <cstdint>

#include "gpu/device/warp.cuh"
#include "gpu/spmm/lane_sums.cuh"
#include "gpu/spmm/row_tasks/sums.cuh"

namespace csrkit::gpu {

/// Columns of B and C that a warp multiplies, kWidth elements a vector. The sum of column x is at
/// place x + before + shift of the warp's 32 * kWidth places, counted around from the first lane's
/// first; `shift` is where the last row of B that was added begins. Places that are no column's
/// hold sums of what lies beside the rows, and go round with the others.
template <class Types, int kWidth>
struct TurningSlice {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  using Output = typename Types::Output;
  using Vector = Pack<Value, kWidth>;

  const Value* b;      // the first of these columns in row 0
  unsigned row_bytes;  // from one row of B to the next
  Index rows;          // of B
  int before;          // elements between a vector's begin and b
  Index cols;
  int lane;

  /// As many columns as there are places for, wherever a row begins.
  static constexpr Index most_cols(int before) {
    return kWarpLanes * kWidth - (kWidth - 1) - before;
  }
  static constexpr Index slices_of(Index cols, int before) {
    const Index whole = most_cols(before) / kWidth * kWidth;
    return cols <= most_cols(before) ? 1 : (cols + whole - 1) / whole;
  }

  /// Where the row of B begins, as far as that changes from row to row.
  __device__ int shift_of(Index col) const {
    return static_cast<int>(static_cast<unsigned>(col) * row_bytes / sizeof(Value) % kWidth);
  }
  /// Vectors of these rows may reach beyond B: numbers of those rows among them, else 0. Rows 1 and
  /// 2 never are among them.
  __device__ int edge_of(Index col) const {
    if (col == rows - 1) return 2;
    return before > 0 && col == 0 ? 1 : 0;
  }
  __device__ Index row_of_edge(int edge) const { return edge == 1 ? 0 : rows - 1; }

  /// For `load`: this lane's vectors. Lanes beyond the last column read the first one, and drop
  /// what they make of it.
  __device__ const std::byte* first_vector() const {
    const bool has_columns = lane * kWidth < cols + before + kWidth - 1;
    return reinterpret_cast<const std::byte*>(b - before + (has_columns ? lane * kWidth : 0));
  }
  __device__ Vector load(const std::byte* first_vector, Index col) const {
    const std::uint64_t row = std::uint64_t{static_cast<unsigned>(col)} * row_bytes;
    const auto at = reinterpret_cast<std::uintptr_t>(first_vector + row) & ~std::uintptr_t{15};
    return load_kept<kWidth>(reinterpret_cast<const Value*>(at));
  }
  __device__ Vector load_edge(Index col) const {
    const std::uint64_t row = std::uint64_t{static_cast<unsigned>(col)} * row_bytes;
    const auto* from = reinterpret_cast<const Value*>(reinterpret_cast<const std::byte*>(b) + row);
    Vector y{};
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const Index at = column(i, shift_of(col));
      if (is_column(at)) y.item[i] = load_kept<1>(from + at).item[0];
    }
    return y;
  }
  /// Whose sum item i of this lane is, if is_column.
  __device__ Index column(int i, int shift) const { return lane * kWidth + i - before - shift; }
  __device__ bool is_column(Index column) const { return column >= 0 && column < cols; }

  /// Moves sums by `columns` < kWidth places towards higher ones. This and all that follows is
  /// called by a warp.
  __device__ void turn(Number* item, int columns) const {
    constexpr int kBefore = kWidth - 1;  // sums of the lane before
    Number at[kBefore + kWidth];
#pragma unroll
    for (int i = 0; i < kBefore; ++i) at[i] = __shfl_sync(kAllLanes, item[i + 1], lane - 1);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) at[kBefore + i] = item[i];
#pragma unroll
    for (int step = kWidth / 2; step > 0; step /= 2) {
#pragma unroll
      for (int i = kBefore + kWidth - 1; i >= step; --i) {
        at[i] = (columns & step) != 0 ? at[i - step] : at[i];
      }
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) item[i] = at[kBefore + i];
  }
  /// Moves them by a vector towards lower ones.
  __device__ void turn_back(Number* item) const {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) item[i] = __shfl_sync(kAllLanes, item[i], lane + 1);
  }

  /// C = alpha * sums + beta * C in these columns of the row that begins at `c`, by the vectors of
  /// C.
  __device__ void store(const Number* sums, int shift, Output* c, Number alpha, Number beta) const {
    Sums<Types, kWidth> turned;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) turned.item[i] = sums[i];
    const int to = static_cast<int>(reinterpret_cast<std::uintptr_t>(c) / sizeof(Output) % kWidth);
    const int columns = (to - shift - before) & (kWidth - 1);
    turn(turned.item, columns);
    const Index first =
        ((lane - (shift + before + columns - to) / kWidth) & (kWarpLanes - 1)) * kWidth - to;
    if (first >= 0 && first + kWidth <= cols) return turned.store(c + first, alpha, beta);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      Sums<Types, 1> one;
      one.item[0] = turned.item[i];
      if (is_column(first + i)) one.store(c + first + i, alpha, beta);
    }
  }

  /// Sums whose shift is 0, to and from slots in which column x is at x.
  __device__ void leave(const Number* sums, Number* slot) const {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (is_column(column(i, 0))) __stcg(slot + column(i, 0), sums[i]);
    }
  }
  /// The sum of `count` slots, from one to the next in `stride`.
  __device__ void collect(Number* sums, const Number* slot, Offset stride, Index count) const {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      Sums<Types, 1> one;
      add_slots(one, slot + column(i, 0), stride, is_column(column(i, 0)), count);
      sums[i] = one.item[0];
    }
  }
};

}  // namespace csrkit::gpu
