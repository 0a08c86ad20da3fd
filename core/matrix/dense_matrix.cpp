#include "core/matrix/dense_matrix.h"

#include <limits>

#include "core/base/counted.h"
#include "core/base/hash.h"
#include "core/base/huge_pages.h"

namespace csrkit {

double ConstDenseView::at(Index i, Index j) const {
  assert(space == MemorySpace::host);
  const Offset position = Offset{i} * leading_dim + j;
  switch (kind) {
    case ValueKind::f32: return load_as<double>(as<float>()[position]);
    case ValueKind::f64: return load_as<double>(as<double>()[position]);
    case ValueKind::f16: return load_as<double>(as<f16>()[position]);
    case ValueKind::bf16: return load_as<double>(as<bf16>()[position]);
    case ValueKind::none: break;
  }
  return 1;
}

void DenseView::set(Index i, Index j, double value) const {
  assert(space == MemorySpace::host);
  const Offset position = Offset{i} * leading_dim + j;
  switch (kind) {
    case ValueKind::f32: as<float>()[position] = store_as<float>(value); break;
    case ValueKind::f64: as<double>()[position] = store_as<double>(value); break;
    case ValueKind::f16: as<f16>()[position] = store_as<f16>(value); break;
    case ValueKind::bf16: as<bf16>()[position] = store_as<bf16>(value); break;
    case ValueKind::none: break;
  }
}

DenseMatrix::DenseMatrix(Index rows, Index cols, ValueKind kind, Offset leading_dim)
    : rows_(rows), cols_(cols), leading_dim_(leading_dim == 0 ? cols : leading_dim) {
  if (kind == ValueKind::none) throw UsageError("a dense matrix cannot hold values of kind none");
  if (leading_dim_ < cols) {
    throw UsageError("leading dimension " + std::to_string(leading_dim_) + " is below the " +
                     counted(cols, "column") + " of the matrix");
  }
  Offset elements = 0;
  if (__builtin_mul_overflow(Offset{rows}, leading_dim_, &elements)) {
    throw MemoryError("a dense matrix of " + std::to_string(rows) + " x " +
                      std::to_string(leading_dim_) + " elements cannot exist");
  }
  values_ = ValueArray(kind, elements);
  // Rows are visited in any order: with small pages most visits would miss the table of pages.
  advise_huge_pages(values_.data(), static_cast<std::size_t>(elements * size_of(kind)));
}

std::uint64_t DenseMatrix::size_bytes() const {
  return static_cast<std::uint64_t>(values_.size()) * size_of(kind());
}

void fill_random(DenseView dense, std::uint64_t seed, Index first_row, Index first_col) {
  with_value_type(dense.kind, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, ImplicitOne>) {
      const bool is_parallel = Offset{dense.rows} * dense.cols > (1 << 14);
#pragma omp parallel for schedule(static) if (is_parallel)
      for (Index i = 0; i < dense.rows; ++i) {
        T* row = dense.as<T>() + Offset{i} * dense.leading_dim;
        const auto whole_row =
            static_cast<std::uint64_t>(first_row) + static_cast<std::uint64_t>(i);
        for (Index j = 0; j < dense.cols; ++j) {
          const auto whole_col =
              static_cast<std::uint64_t>(first_col) + static_cast<std::uint64_t>(j);
          row[j] = store_as<T>(random_value(seed, whole_row, whole_col));
        }
      }
    }
  });
}

void fill_nan(DenseView dense) {
  with_value_type(dense.kind, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, ImplicitOne>) {
      const T nan = store_as<T>(std::numeric_limits<double>::quiet_NaN());
      const Offset count =
          dense.rows == 0 ? 0 : Offset{dense.rows - 1} * dense.leading_dim + dense.cols;
#pragma omp parallel for schedule(static)
      for (Offset at = 0; at < count; ++at) dense.as<T>()[at] = nan;
    }
  });
}

}  // namespace csrkit
