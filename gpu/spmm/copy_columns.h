// Columns of B in rows that begin at multiples of a vector, where B's own do not.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Elements of B by one access where rows begin anywhere; 8 bytes of 16-bit ones.
constexpr int unaligned_width(int value_bytes) { return value_bytes == 8 ? 2 : 4; }

/// How often a row of B must be read for a copy to pay: beside row_bins in pieces, and in
/// row_panels, which without a copy reads single elements. Measured on an H200,
/// docs/lab/2026-11-23-spmm-widths-h200.md.
inline constexpr Offset kReadsThatPay = 20, kReadsThatPayPanels = 4;

/// Fewer columns are done by single elements: eight lanes have them all.
inline constexpr Index kFewestUnaligned = 9;

/// Whether so many columns say that rows are not aligned: the product then may work on a copy.
constexpr bool is_copied(Index dense_cols, int value_bytes) {
  return dense_cols >= kFewestUnaligned && dense_cols % unaligned_width(value_bytes) != 0;
}
/// How many columns of B are copied at once into rows of whole vectors: all, if they take no more
/// than 256 MB. 0 if none are: K says that rows are aligned, a row of B is read less than
/// `reads_that_pay` times, or few columns would take more than 1 GB. Of a block of a product this
/// follows from the whole.
Index copied_cols(const SpmmSizes& sizes, int value_bytes, Offset reads_that_pay);
/// Of the workspace, for them.
std::uint64_t copy_bytes(const SpmmSizes& sizes, int value_bytes, Offset reads_that_pay);

/// What a plan says of it.
inline std::string choice_of_copy(Index copied_cols) {
  if (copied_cols == 0) return {};
  return ", B copied where its rows are not aligned, " + std::to_string(copied_cols) +
         " columns at a time";
}

/// Queues the copy of `from` to rows of `to_cols` elements, a multiple of 16 bytes; what is beyond
/// the columns of `from` becomes 0. `to` begins at such a multiple.
template <class Value>
void copy_columns(const DeviceDenseView<const Value>& from, Value* to, Index to_cols,
                  cudaStream_t stream);

/// Queues copies of `copied_cols` columns of B at a time, each followed by launch(operands): the
/// product of those columns, whose B is the copy.
template <class Operands, class Value, class Launch>
void launch_on_copies(const Operands& all, Value* copy, Index copied_cols, cudaStream_t stream,
                      Launch&& launch) {
  for (Offset first = 0; first < all.c.cols; first += copied_cols) {
    Operands slice = all;
    slice.b.data += first;
    slice.c.data += first;
    slice.b.cols = slice.c.cols =
        static_cast<Index>(std::min<Offset>(copied_cols, all.c.cols - first));
    copy_columns(slice.b, copy, copied_cols, stream);
    slice.b.data = copy;
    slice.b.leading_dim = copied_cols;
    slice.row_bytes = static_cast<unsigned>(copied_cols) * static_cast<unsigned>(sizeof(Value));
    launch(slice);
  }
}

}  // namespace csrkit::gpu
