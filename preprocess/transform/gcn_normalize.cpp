#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "preprocess/transform/pattern.h"
#include "preprocess/transform/transform.h"

namespace csrkit {

namespace {

/// A power of two, so exact. A row has less than 2^32 entries.
constexpr double kSmaller = 0x1p-64;

/// The square root of the sum of magnitudes. A sum of finite values beyond float64 has one as well:
/// it is summed a second time, all values smaller.
template <class View>
double root_of_row(const View& a, Index row) {
  constexpr double kRootOfLarger = 0x1p32;
  const auto sum_of = [&](double factor) {
    double sum = 0;
    for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
      sum += std::fabs(a.template value_as<double>(at)) * factor;
    }
    return sum;
  };
  const double sum = sum_of(1);
  return std::isinf(sum) ? std::sqrt(sum_of(kSmaller)) * kRootOfLarger : std::sqrt(sum);
}

/// value / (left * right), whose denominator may be beyond float64, and which comes to the same
/// bits if `left` and `right` change places. Multiplying by 0 instead of storing 0 keeps a NaN
/// visible.
double divided(double value, double left, double right) {
  const double scale = left * right;
  if (scale == 0) return value * 0.0;
  if (!std::isinf(scale)) return value / scale;
  return value * kSmaller / (left * kSmaller * right);
}

[[noreturn]] void refuse_result(const CsrMatrix& matrix, Offset at, ValueKind kind) {
  const double value = matrix.visit([&](const auto& a) { return a.template value_as<double>(at); });
  throw InputError(std::string("gcn-normalize: expected results within the range of ") +
                   name_of(kind) + ", found a larger one from " + place_of(matrix, at, value) +
                   (kind == ValueKind::f64 ? "; the sums of the rows differ too much"
                                           : "; a wider --value-kind may hold it"));
}

}  // namespace

CsrMatrix gcn_normalize(const CsrMatrix& matrix, Underflow* underflow) {
  transform::require_square(matrix, "gcn-normalize");
  const ValueKind kind =
      matrix.value_kind() == ValueKind::none ? ValueKind::f32 : matrix.value_kind();
  const Offset nnz = matrix.nnz();
  ValueArray values(kind, nnz);
  // sqrt(d_i) * sqrt(d_j) does not depend on the order of i and j, so a symmetric matrix stays
  // symmetric to the last bit.
  Buffer<double> root(matrix.rows());
  Offset first_infinite = nnz, first_lost = nnz, lost = 0;
  matrix.visit([&](auto a) {
#pragma omp parallel for schedule(dynamic, 1024)
    for (Index row = 0; row < a.rows; ++row) root[row] = root_of_row(a, row);
    with_value_type(kind, [&](auto tag) {
      using Stored = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<Stored, ImplicitOne>) {
        Stored* out = values.as<Stored>();
#pragma omp parallel for schedule(dynamic, 1024) reduction(min : first_infinite, first_lost) \
    reduction(+ : lost)
        for (Index row = 0; row < a.rows; ++row) {
          for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
            const double value = a.template value_as<double>(at);
            const double left = root[row], right = root[a.col_indices[at]];
            out[at] = store_as<Stored>(divided(value, left, right));
            const bool is_usual =
                std::isfinite(value) && std::isfinite(left) && std::isfinite(right);
            if (!is_usual || value == 0 || left == 0 || right == 0) continue;
            const double result = load_as<double>(out[at]);
            if (!std::isfinite(result)) first_infinite = std::min(first_infinite, at);
            if (result != 0) continue;
            ++lost;
            first_lost = std::min(first_lost, at);
          }
        }
      }
    });
  });
  if (first_infinite < nnz) refuse_result(matrix, first_infinite, kind);
  if (underflow != nullptr && lost > 0) {
    const double value =
        matrix.visit([&](const auto& a) { return a.template value_as<double>(first_lost); });
    *underflow = {lost, "from " + place_of(matrix, first_lost, value)};
  }
  return transform::with_values(matrix, std::move(values));
}

}  // namespace csrkit
