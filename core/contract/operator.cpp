#include "core/contract/operator.h"

#include <cmath>

#include "core/base/text.h"

namespace csrkit {

namespace {

constexpr char kThisKernel[] = "this kernel";

std::string text_of(Index rows, Index cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

}  // namespace

bool is_vector_aligned(const ConstDenseView& view) {
  constexpr Offset kVectorBytes = 16;
  const Offset row_bytes = view.leading_dim * size_of(view.kind);
  return static_cast<Offset>(reinterpret_cast<std::uintptr_t>(view.data) % kVectorBytes) == 0 &&
         (view.leading_dim == view.cols || row_bytes % kVectorBytes == 0);
}

void require_dense(const char* name, const ConstDenseView& view, Index rows, Index cols,
                   ValueKind kind, Capabilities capabilities) {
  if (view.rows != rows || view.cols != cols) {
    throw UsageError(std::string(name) + " is " + text_of(view.rows, view.cols) +
                     "; this product needs " + text_of(rows, cols));
  }
  if (view.kind != kind) {
    throw UsageError(std::string(name) + " holds " + name_of(view.kind) + "; this product needs " +
                     name_of(kind));
  }
  if (view.leading_dim < view.cols) {
    throw UsageError(std::string(name) + " has a leading dimension below its columns");
  }
  if (view.leading_dim > view.cols) {
    require_capabilities(capabilities, kLeadingDimension, kThisKernel);
  }
  if (view.space == MemorySpace::device && !is_vector_aligned(view)) {
    require_capabilities(capabilities, kAnyAlignment, kThisKernel);
  }
}

void require_bindable(const OperatorShape& shape, Capabilities capabilities,
                      const ConstDenseView& b, const DenseView& c) {
  require_dense("B", b, shape.input_rows, shape.dense_cols, shape.b, capabilities);
  require_dense("C", c, shape.output_rows, shape.dense_cols, shape.c, capabilities);
}

void require_factor(const char* name, double factor, ValueKind sums) {
  const bool fits = sums == ValueKind::f64 || std::isfinite(store_as<float>(factor));
  if (fits || !std::isfinite(factor)) return;
  throw UsageError(std::string(name) + " is " + rounded(factor) + ", beyond the range of " +
                   name_of(sums) +
                   ", the kind of the sums; use operands of f64 (--value-kind f64)");
}

void require_multipliable(Semiring semiring, Capabilities capabilities, ValueKind sums,
                          double alpha, double beta) {
  if (alpha == 1 && beta == 0) return;
  if (semiring != Semiring::plus_times) {
    throw UsageError(std::string("semiring ") + name_of(semiring) +
                     " takes alpha 1 and beta 0 only");
  }
  require_capabilities(capabilities, kAlphaBeta, kThisKernel);
  require_factor("alpha", alpha, sums);
  require_factor("beta", beta, sums);
}

}  // namespace csrkit
