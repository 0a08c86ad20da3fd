#include "core/matrix/csr_matrix.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/team.h"
#include "core/matrix/csr_checks.h"

namespace csrkit {

namespace {

struct OwnedArrays {
  Buffer<Offset> row_offsets;
  Buffer<Index> col_indices;
  ValueArray values;
};

}  // namespace

CsrMatrix::CsrMatrix() : CsrMatrix(0, 0, Buffer<Offset>(1), Buffer<Index>(0), ValueArray()) {}

CsrMatrix::CsrMatrix(Index rows, Index cols, Buffer<Offset> row_offsets, Buffer<Index> col_indices,
                     ValueArray values)
    : rows_(rows), cols_(cols), kind_(values.kind()) {
  assert(row_offsets.size() == Offset{rows} + 1);
  if (rows == 0) row_offsets[0] = 0;
  assert(kind_ == ValueKind::none || values.size() == col_indices.size());
  auto arrays = std::make_shared<OwnedArrays>(
      OwnedArrays{std::move(row_offsets), std::move(col_indices), std::move(values)});
  row_offsets_ = arrays->row_offsets.data();
  col_indices_ = arrays->col_indices.data();
  values_ = arrays->values.data();
  nnz_ = row_offsets_[rows];
  owner_ = std::move(arrays);
}

CsrMatrix::CsrMatrix(Index rows, Index cols, const Offset* row_offsets, const Index* col_indices,
                     ValueKind kind, const void* values, std::shared_ptr<const void> owner)
    : rows_(rows),
      cols_(cols),
      nnz_(rows < 0 ? 0 : row_offsets[rows]),  // validate() refuses such a matrix
      kind_(kind),
      row_offsets_(row_offsets),
      col_indices_(col_indices),
      values_(values),
      owner_(std::move(owner)) {}

CsrMatrix CsrMatrix::on_device(Index rows, Index cols, Offset nnz, const Offset* row_offsets,
                               const Index* col_indices, ValueKind kind, const void* values,
                               std::shared_ptr<const void> owner) {
  CsrMatrix matrix;
  matrix.rows_ = rows;
  matrix.cols_ = cols;
  matrix.nnz_ = nnz;
  matrix.kind_ = kind;
  matrix.space_ = MemorySpace::device;
  matrix.row_offsets_ = row_offsets;
  matrix.col_indices_ = col_indices;
  matrix.values_ = values;
  matrix.owner_ = std::move(owner);
  return matrix;
}

std::uint64_t CsrMatrix::size_bytes() const {
  return (static_cast<std::uint64_t>(rows_) + 1) * sizeof(Offset) +
         static_cast<std::uint64_t>(nnz()) * (sizeof(Index) + size_of(kind_));
}

void validate(const CsrMatrix& matrix, const std::string& where) {
  constexpr const char* kAdvice = "import the matrix again";
  if (matrix.rows() < 0 || matrix.cols() < 0) {
    throw InputError(where + ": the matrix has a negative dimension; " + kAdvice);
  }
  require_row_offsets(matrix.row_offsets(), matrix.rows(), matrix.nnz(), where, kAdvice);
  require_columns(matrix.row_offsets(), matrix.col_indices(), matrix.rows(), matrix.cols(), where,
                  kAdvice);
}

CsrMatrix convert_values(const CsrMatrix& matrix, ValueKind kind, int threads) {
  if (kind == matrix.value_kind()) return matrix;
  const Offset nnz = matrix.nnz();
  const int team = team_for(nnz, threads);
  ValueArray values(kind, nnz);
  with_value_type(kind, [&](auto to) {
    using To = typename decltype(to)::type;
    if constexpr (!std::is_same_v<To, ImplicitOne>) {
      matrix.visit([&](auto from) {
        To* out = values.as<To>();
#pragma omp parallel for schedule(static) num_threads(team)
        for (Offset at = 0; at < nnz; ++at) {
          out[at] = store_as<To>(from.template value_as<double>(at));
        }
      });
    }
  });
  return CsrMatrix(matrix.rows(), matrix.cols(),
                   Buffer<Offset>::copy_of(matrix.row_offsets(), Offset{matrix.rows()} + 1),
                   Buffer<Index>::copy_of(matrix.col_indices(), nnz), std::move(values));
}

CsrMatrix pattern_view(const CsrMatrix& matrix) {
  return CsrMatrix(matrix.rows(), matrix.cols(), matrix.row_offsets(), matrix.col_indices(),
                   ValueKind::none, nullptr, std::make_shared<const CsrMatrix>(matrix));
}

// The cursors of transpose take slices * cols words, so there are never more slices than nnz / cols
// pays for.
static int transpose_slices(const CsrMatrix& matrix, int threads) {
  const Offset paid_for = matrix.nnz() / (Offset{matrix.cols()} + 1) + 1;
  return static_cast<int>(std::min<Offset>(team_for(matrix.nnz(), threads), paid_for));
}

std::uint64_t transpose_workspace_bytes(const CsrMatrix& matrix, int threads) {
  const auto slices = static_cast<std::uint64_t>(transpose_slices(matrix, threads));
  return slices * static_cast<std::uint64_t>(matrix.cols()) * sizeof(Offset) +
         (slices + 1) * sizeof(Index);
}

CsrMatrix transpose(const CsrMatrix& matrix, int threads) {
  const Index rows = matrix.rows(), cols = matrix.cols();
  const Offset nnz = matrix.nnz();
  const Offset* offsets = matrix.row_offsets();
  const Index* col_indices = matrix.col_indices();

  // A counting sort by column. Every slice of rows counts its own columns, the counts become write
  // cursors in (column, slice) order, and each slice scatters through its own cursors: no atomics,
  // rows arrive in ascending order, and the result does not depend on the number of slices. Fewer
  // slices than threads leave some of the team idle: a team that changes its size is started anew.
  const int slices = transpose_slices(matrix, threads);
  const int team = slices > 1 ? team_size(threads) : 1;
  Buffer<Offset> out_offsets(Offset{cols} + 1);
  Buffer<Index> out_cols(nnz);
  ValueArray out_values(matrix.value_kind(), nnz);
  Buffer<Offset> cursor(Offset{slices} * cols);
  Buffer<Index> slice_begin(slices + 1);
  for (int s = 0; s <= slices; ++s) {
    const Offset target = nnz / slices * s;
    slice_begin[s] =
        s == slices
            ? rows
            : static_cast<Index>(std::lower_bound(offsets, offsets + rows, target) - offsets);
  }
#pragma omp parallel for schedule(static, 1) num_threads(team)
  for (int s = 0; s < slices; ++s) {
    Offset* count = cursor.data() + Offset{s} * cols;
    std::fill(count, count + cols, Offset{0});
    for (Offset at = offsets[slice_begin[s]]; at < offsets[slice_begin[s + 1]]; ++at) {
      ++count[col_indices[at]];
    }
  }
  Offset running = 0;
  for (Index col = 0; col < cols; ++col) {
    out_offsets[col] = running;
    for (int s = 0; s < slices; ++s) {
      const Offset count = cursor[Offset{s} * cols + col];
      cursor[Offset{s} * cols + col] = running;
      running += count;
    }
  }
  out_offsets[cols] = running;
  matrix.visit([&](auto view) {
#pragma omp parallel for schedule(static, 1) num_threads(team)
    for (int s = 0; s < slices; ++s) {
      Offset* next = cursor.data() + Offset{s} * cols;
      for (Index row = slice_begin[s]; row < slice_begin[s + 1]; ++row) {
        for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
          const Offset to = next[col_indices[at]]++;
          out_cols[to] = row;
          if constexpr (!std::is_same_v<decltype(view), CsrView<ImplicitOne>>) {
            using Value = std::remove_cv_t<std::remove_pointer_t<decltype(view.values)>>;
            out_values.template as<Value>()[to] = view.values[at];
          }
        }
      }
    }
  });
  return CsrMatrix(cols, rows, std::move(out_offsets), std::move(out_cols), std::move(out_values));
}

bool identical(const CsrMatrix& a, const CsrMatrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.nnz() != b.nnz() ||
      a.value_kind() != b.value_kind()) {
    return false;
  }
  const auto same = [](const void* x, const void* y, std::size_t bytes) {
    return bytes == 0 || std::memcmp(x, y, bytes) == 0;
  };
  return same(a.row_offsets(), b.row_offsets(),
              (static_cast<std::size_t>(a.rows()) + 1) * sizeof(Offset)) &&
         same(a.col_indices(), b.col_indices(),
              static_cast<std::size_t>(a.nnz()) * sizeof(Index)) &&
         same(a.values(), b.values(), static_cast<std::size_t>(a.nnz()) * size_of(a.value_kind()));
}

}  // namespace csrkit
