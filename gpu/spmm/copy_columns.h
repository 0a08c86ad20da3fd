// Copies of columns of B with aligned rows, for a B whose rows are not aligned.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// A copy pays only if a row of B is read so often on average. The alternative, row_bins in pieces,
/// reads 16-bit elements as slowly as 32-bit ones. Measured on an H200,
/// docs/lab/2026-11-23-spmm-widths-h200.md; in f32 a copy never pays,
/// docs/lab/2026-11-25-spmm-odd-widths.md.
inline constexpr Offset kReadsThatPay = 20;
/// And only in products of so many multiplications: it costs a launch, and C is then stored through
/// shared memory. Measured on an H100, docs/lab/2026-11-26-blind-hunt.md.
inline constexpr Offset kProductsThatPay = 60'000'000;

/// The number of columns of B that are copied at once into rows of whole vectors: all, if they take
/// at most 256 MiB. 0: nothing is copied, because rows are aligned for this K, values are not 16
/// bits wide, rows of B are read less than kReadsThatPay times, the product is small, or even a few
/// columns would take more than 1 GiB. For a block of a larger product the whole product decides.
Index copied_cols(const SpmmSizes& sizes, int value_bytes);
/// Bytes of workspace for the copy.
std::uint64_t copy_bytes(const SpmmSizes& sizes, int value_bytes);

/// The text for a plan's choice().
inline std::string choice_of_copy(Index copied_cols) {
  if (copied_cols == 0) return {};
  return ", B copied where its rows are not aligned, " + std::to_string(copied_cols) +
         " columns at a time";
}

/// Queues a copy of `from` into rows of `to_cols` elements, a multiple of 16 bytes; elements beyond
/// the columns of `from` become 0. `to` is aligned to 16 bytes.
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
