// Columns of B in rows that begin at multiples of a vector, where B's own do not.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// How often a row of B must be read for a copy to pay beside row_bins in pieces, which read an
/// element of 16 bits as they read one of 32. Measured on an H200,
/// docs/lab/2026-11-23-spmm-widths-h200.md; in f32 it never pays,
/// docs/lab/2026-11-25-spmm-odd-widths.md.
inline constexpr Offset kReadsThatPay = 20;
/// And how many numbers the product multiplies: a copy is a launch, and stores by way of shared
/// memory. Measured on an H100, docs/lab/2026-11-26-blind-hunt.md.
inline constexpr Offset kProductsThatPay = 60'000'000;

/// How many columns of B are copied at once into rows of whole vectors: all, if they take no more
/// than 256 MB. 0 if none are: K says that rows are aligned, values have not 16 bits, a row of B is
/// read less than kReadsThatPay times, the product is small, or few columns would take more than 1
/// GB. Of a block of a product this follows from the whole.
Index copied_cols(const SpmmSizes& sizes, int value_bytes);
/// Of the workspace, for them.
std::uint64_t copy_bytes(const SpmmSizes& sizes, int value_bytes);

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
