// Sparse matrices in compressed sparse row form: the shared language of every room.
#pragma once

#include <cassert>
#include <memory>

#include "core/base/buffer.h"
#include "core/base/types.h"
#include "core/base/value_kind.h"
#include "core/matrix/memory_space.h"

namespace csrkit {

/// A typed, borrowed look at a CSR matrix: plain data, passed by value to kernels.
/// Row i holds the entries [row_offsets[i], row_offsets[i + 1]) of col_indices and values.
template <class Value>
struct CsrView {
  Index rows = 0;
  Index cols = 0;
  const Offset* row_offsets = nullptr;  // rows + 1 numbers, from 0 to nnz
  const Index* col_indices = nullptr;   // nnz numbers in [0, cols), ascending and unique in a row
  const Value* values = nullptr;        // nnz numbers

  Offset nnz() const { return row_offsets[rows]; }
  template <class To>
  To value_as(Offset position) const {
    return load_as<To>(values[position]);
  }
};

/// Without stored values, every entry is 1.
template <>
struct CsrView<ImplicitOne> {
  Index rows = 0;
  Index cols = 0;
  const Offset* row_offsets = nullptr;
  const Index* col_indices = nullptr;

  Offset nnz() const { return row_offsets[rows]; }
  template <class To>
  To value_as(Offset) const {
    return To{1};
  }
};

/// An immutable CSR matrix. Copies share the arrays, which are owned or mapped from a file; make a
/// new matrix to change anything. Invariants (established by whoever makes one, see `validate`):
/// row_offsets starts at 0 and never decreases; columns are in range, ascending and unique per row.
class CsrMatrix {
 public:
  /// 0 x 0, no values.
  CsrMatrix();

  /// Takes the arrays: rows + 1 offsets, then as many columns and values (kind none: no storage).
  CsrMatrix(Index rows, Index cols, Buffer<Offset> row_offsets, Buffer<Index> col_indices,
            ValueArray values);

  /// Borrows arrays that live as long as `owner` does (a mapped file).
  CsrMatrix(Index rows, Index cols, const Offset* row_offsets, const Index* col_indices,
            ValueKind kind, const void* values, std::shared_ptr<const void> owner);

  /// Borrows arrays in device memory that live as long as `owner` does. Only kernels with
  /// kDeviceMatrix take such a matrix; nothing on the host may look into its arrays.
  static CsrMatrix on_device(Index rows, Index cols, Offset nnz, const Offset* row_offsets,
                             const Index* col_indices, ValueKind kind, const void* values,
                             std::shared_ptr<const void> owner);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  ValueKind value_kind() const { return kind_; }
  MemorySpace space() const { return space_; }
  const Offset* row_offsets() const { return row_offsets_; }
  const Index* col_indices() const { return col_indices_; }
  const void* values() const { return values_; }
  Offset row_length(Index row) const { return row_offsets_[row + 1] - row_offsets_[row]; }

  /// Bytes of the three arrays.
  std::uint64_t size_bytes() const;

  /// Value must match `value_kind()`.
  template <class Value>
  CsrView<Value> view() const {
    assert(kValueKindOf<Value> == kind_);
    if constexpr (std::is_same_v<Value, ImplicitOne>) {
      return {rows_, cols_, row_offsets_, col_indices_};
    } else {
      return {rows_, cols_, row_offsets_, col_indices_, static_cast<const Value*>(values_)};
    }
  }

  /// Calls `f` with the typed view and returns its result.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return with_value_type(
        kind_, [&](auto tag) -> decltype(auto) { return f(view<typename decltype(tag)::type>()); });
  }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Offset nnz_ = 0;
  ValueKind kind_ = ValueKind::none;
  MemorySpace space_ = MemorySpace::host;
  const Offset* row_offsets_ = nullptr;
  const Index* col_indices_ = nullptr;
  const void* values_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// Checks every invariant, in parallel. Throws InputError that begins with `where` (a file name)
/// and names the first offending row and entry.
void validate(const CsrMatrix& matrix, const std::string& where);

/// The same pattern with every value converted to `kind` (one rounding each). To none: the values
/// are dropped. From none: every value is 1. Shares nothing with the input unless the kind is
/// equal. `threads` as in team_size.
CsrMatrix convert_values(const CsrMatrix& matrix, ValueKind kind, int threads = 0);

/// The pattern of a matrix on the host, without values. Shares the matrix's arrays.
CsrMatrix pattern_view(const CsrMatrix& matrix);

/// A^T with the same value kind; columns sorted. Parallel, same result for any thread count;
/// `threads` as in team_size.
CsrMatrix transpose(const CsrMatrix& matrix, int threads = 0);

/// Bytes that transpose takes beside its result, with that many threads.
std::uint64_t transpose_workspace_bytes(const CsrMatrix& matrix, int threads = 0);

/// Same shape, same pattern, same value kind and bit-identical values.
bool identical(const CsrMatrix& a, const CsrMatrix& b);

}  // namespace csrkit
