// A CSR matrix in device memory, and the plain views of it that kernels get.
#pragma once

#include <cuda_runtime.h>

#include "core/matrix/csr_matrix.h"
#include "core/matrix/dense_matrix.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// Row offsets in 32 bits where nnz allows, which halves their traffic, else in 64. One of the two
/// pointers is set. All threads of a launch take the same branch, so it needs no template.
struct DeviceOffsets {
  const std::uint32_t* narrow = nullptr;
  const Offset* wide = nullptr;

#ifdef __CUDACC__
  __device__ Offset operator[](Offset i) const {
    return narrow != nullptr
               ? Offset{__ldg(narrow + i)}
               : static_cast<Offset>(__ldg(reinterpret_cast<const long long*>(wide) + i));
  }
#endif
  DeviceOffsets from(Index row) const {
    return {narrow != nullptr ? narrow + row : nullptr, wide != nullptr ? wide + row : nullptr};
  }
};

/// A borrowed CSR matrix in device memory, or a range of its rows: plain data, passed by value. Row
/// i holds the entries [row_begin(i), row_end(i)) of col_indices and values. `base` is the number
/// of entries before the first row, in 64 bits, so a range may begin anywhere in a matrix of any
/// size.
template <class Value>
struct DeviceCsrView {
  Index rows = 0;
  Index cols = 0;
  Offset nnz = 0;
  DeviceOffsets row_offsets;  // rows + 1 numbers, from base to base + nnz
  Offset base = 0;
  const Index* col_indices = nullptr;  // nnz numbers
  const Value* values = nullptr;       // nnz numbers; null: every entry is 1

#ifdef __CUDACC__
  __device__ Offset row_begin(Index row) const { return row_offsets[row] - base; }
  __device__ Offset row_end(Index row) const { return row_offsets[Offset{row} + 1] - base; }
#endif

  /// The same arrays under another type of values; void forgets it.
  template <class To>
  DeviceCsrView<To> as() const {
    return {rows, cols, nnz, row_offsets, base, col_indices, static_cast<const To*>(values)};
  }

  /// Rows [first, last), which hold the entries [first_entry, last_entry) of this matrix.
  DeviceCsrView range(Index first, Index last, Offset first_entry, Offset last_entry) const {
    DeviceCsrView part = *this;
    part.rows = last - first;
    part.nnz = last_entry - first_entry;
    part.row_offsets = row_offsets.from(first);
    part.base = base + first_entry;
    part.col_indices = col_indices + first_entry;
    part.values = values == nullptr ? nullptr : values + first_entry;
    return part;
  }
};

/// A borrowed row-major dense matrix in device memory; element (i, j) is data[i * leading_dim + j].
template <class T>
struct DeviceDenseView {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Offset leading_dim = 0;
};

enum class OffsetWidth : std::uint8_t { automatic, wide };

/// The three arrays on the device: uploaded and owned, or used in place if the matrix is there
/// already. The structure is immutable.
class DeviceCsr {
 public:
  DeviceCsr() = default;

  /// A `matrix` on the host is copied in the memory's stream; its arrays must stay until the stream
  /// has copied them. A matrix on the device is shared: nothing is copied, and `memory` and `width`
  /// do not matter. Throws MemoryError, DeviceError.
  DeviceCsr(DeviceMemory& memory, const CsrMatrix& matrix,
            OffsetWidth width = OffsetWidth::automatic);

  /// The constructor's peak in bytes for a matrix on the host, from sizes alone.
  static std::uint64_t forecast_bytes(Index rows, Offset nnz, ValueKind kind);

  /// Uploads the values of `matrix`, which has the same structure and kind.
  void set_values(const CsrMatrix& matrix, cudaStream_t stream);

  /// A^T, sorted on the device: columns ascending, the same bits in every run. Queued in the
  /// memory's stream. Needs can_transpose(nnz()), as entries are numbered in 32 bits.
  DeviceCsr transposed(DeviceMemory& memory) const;
  static bool can_transpose(Offset nnz);
  /// The peak in bytes of transposed() beside A itself, from sizes alone; `cols` are A's.
  static std::uint64_t transpose_bytes(Index cols, Offset nnz, ValueKind kind);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  ValueKind value_kind() const { return kind_; }
  /// Value is the type of the stored values. For kind none any type will do: `values` is null.
  template <class Value>
  DeviceCsrView<Value> view() const {
    return {rows_, cols_, nnz_, offsets(), 0, col_indices(), static_cast<const Value*>(values())};
  }

 private:
  bool is_in_place() const { return in_place_.space() == MemorySpace::device; }
  DeviceOffsets offsets() const {
    if (is_in_place()) return {nullptr, in_place_.row_offsets()};
    return {narrow_offsets_.data(), wide_offsets_.data()};
  }
  const Index* col_indices() const {
    return is_in_place() ? in_place_.col_indices() : col_indices_.data();
  }
  const void* values() const {
    if (kind_ == ValueKind::none) return nullptr;  // every entry is 1
    return is_in_place() ? in_place_.values() : values_.data();
  }

  CsrMatrix in_place_;  // a matrix that was on the device already; else empty
  Index rows_ = 0;
  Index cols_ = 0;
  Offset nnz_ = 0;
  ValueKind kind_ = ValueKind::none;
  DeviceBuffer<std::uint32_t> narrow_offsets_;
  DeviceBuffer<Offset> wide_offsets_;
  DeviceBuffer<Index> col_indices_;
  DeviceBuffer<std::byte> values_;
};

/// Queues a copy of a dense matrix between host and device, or within the device. Padding between
/// rows is neither read nor written. Both have the same rows, columns and kind.
void copy_dense(DenseView to, ConstDenseView from, cudaStream_t stream);

}  // namespace csrkit::gpu
