#include "core/judge/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace csrkit {

static double empty_sum_of(Semiring semiring) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (semiring == Semiring::min_plus) return infinity;
  return semiring == Semiring::max_times ? -infinity : 0;
}

/// Adds the semiring's product of x and y to a sum, and to its magnitude.
static void add_term(Semiring semiring, double x, double y, double& sum, double& magnitude) {
  switch (semiring) {
    case Semiring::plus_times:
      sum += x * y;
      magnitude += std::fabs(x * y);
      break;
    case Semiring::min_plus:
      sum = std::isnan(x + y) || std::isnan(sum) ? sum + x + y : std::min(sum, x + y);
      magnitude = std::max(magnitude, std::fabs(x) + std::fabs(y));
      break;
    case Semiring::max_times:
      sum = std::isnan(x * y) || std::isnan(sum) ? sum + x * y : std::max(sum, x * y);
      magnitude = std::max(magnitude, std::fabs(x * y));
      break;
    case Semiring::or_and: sum = sum != 0 || (x != 0 && y != 0) ? 1 : 0; break;
  }
}

/// Adds x times row `row` of b. The kind of b is looked at once: most of a check's time goes here.
static void add_product(double x, const ConstDenseView& b, Index row, ReferenceEntry* out) {
  with_value_type(b.kind, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, ImplicitOne>) {
      const T* const values = b.as<T>() + Offset{row} * b.leading_dim;
      for (Index j = 0; j < b.cols; ++j) {
        const double term = x * load_as<double>(values[j]);
        out[j].value += term;
        out[j].magnitude += std::fabs(term);
      }
    }
  });
}

void reference_spmm_row(const CsrMatrix& op_a, ConstDenseView b, Semiring semiring, double alpha,
                        double beta, const ConstDenseView* c, Index row, ReferenceEntry* out) {
  for (Index j = 0; j < b.cols; ++j) out[j] = {empty_sum_of(semiring), 0};
  for (Offset at = op_a.row_offsets()[row]; at < op_a.row_offsets()[row + 1]; ++at) {
    const double x = op_a.visit([&](auto view) { return view.template value_as<double>(at); });
    if (semiring == Semiring::plus_times) {
      add_product(x, b, op_a.col_indices()[at], out);
      continue;
    }
    for (Index j = 0; j < b.cols; ++j) {
      const double y = b.at(op_a.col_indices()[at], j);
      add_term(semiring, x, y, out[j].value, out[j].magnitude);
    }
  }
  if (semiring != Semiring::plus_times) return;
  for (Index j = 0; j < b.cols; ++j) {
    out[j].value *= alpha;
    out[j].magnitude *= std::fabs(alpha);
    if (beta != 0) {
      out[j].value += beta * c->at(row, j);
      out[j].magnitude += std::fabs(beta * c->at(row, j));
    }
  }
}

ReferenceSample reference_sddmm_entry(const SddmmProblem& problem, const ConstDenseView& x,
                                      const ConstDenseView& y, double alpha, double beta,
                                      const ConstValuesView* c, Index row, Offset at) {
  ReferenceSample sample{0, 0, 0, 0, 1, 0};
  const Index col = problem.a.col_indices()[at];
  for (Index k = 0; k < problem.dense_cols; ++k) {
    const double left = x.at(row, k), right = y.at(col, k);
    const bool is_finite = std::isfinite(left) && std::isfinite(right);
    sample.value += left * right;
    sample.magnitude += std::fabs(left * right);
    if (is_finite) sample.finite_sum += std::fabs(left * right);
    if (!is_finite) sample.special_sum += left * right;
  }
  if (problem.multiplies_by_a) {
    sample.factor = problem.a.visit([&](auto a) { return a.template value_as<double>(at); });
    sample.special_sum *= sample.factor;
    sample.value *= sample.factor;
    sample.magnitude *= std::fabs(sample.factor);
  }
  sample.special_sum *= alpha;
  sample.value *= alpha;
  sample.magnitude *= std::fabs(alpha);
  if (beta != 0) {
    const double before = c->at(at);
    if (std::isfinite(before)) sample.finite_added = std::fabs(beta * before);
    if (!std::isfinite(before) || !std::isfinite(beta)) sample.special_sum += beta * before;
    sample.value += beta * before;
    sample.magnitude += std::fabs(beta * before);
  }
  return sample;
}

ReferenceSpgemm::ReferenceSpgemm(const SpgemmProblem& problem, const CsrMatrix& op_b)
    : problem_(problem),
      op_b_(op_b),
      place_of_col_(static_cast<std::size_t>(op_b.cols()), Offset{-1}) {}

void ReferenceSpgemm::row(Index row, std::vector<ReferenceProductEntry>& out) {
  const CsrMatrix& a = problem_.a;
  const auto value_of = [](const CsrMatrix& matrix, Offset at) {
    return matrix.visit([&](auto view) { return view.template value_as<double>(at); });
  };
  out.clear();
  for (Offset i = a.row_offsets()[row]; i < a.row_offsets()[row + 1]; ++i) {
    const Index k = a.col_indices()[i];
    const double x = value_of(a, i);
    for (Offset j = op_b_.row_offsets()[k]; j < op_b_.row_offsets()[k + 1]; ++j) {
      const Index col = op_b_.col_indices()[j];
      const double y = value_of(op_b_, j);
      Offset& place = place_of_col_[static_cast<std::size_t>(col)];
      if (place < 0) {
        place = static_cast<Offset>(out.size());
        out.push_back({col, 0, empty_sum_of(problem_.semiring), 0, 0, 0});
      }
      ReferenceProductEntry& entry = out[static_cast<std::size_t>(place)];
      ++entry.terms;
      const bool is_finite = std::isfinite(x) && std::isfinite(y);
      if (is_finite) entry.finite_sum += std::fabs(x * y);
      if (!is_finite) entry.special_sum += x * y;
      add_term(problem_.semiring, x, y, entry.value, entry.magnitude);
    }
  }
  for (const ReferenceProductEntry& entry : out) {
    place_of_col_[static_cast<std::size_t>(entry.col)] = -1;
  }
  if (problem_.mask) {
    const Index* const cols = problem_.mask->col_indices();
    const Offset* const offsets = problem_.mask->row_offsets();
    out.erase(std::remove_if(out.begin(), out.end(),
                             [&](const ReferenceProductEntry& entry) {
                               return !std::binary_search(cols + offsets[row],
                                                          cols + offsets[row + 1], entry.col);
                             }),
              out.end());
  }
  std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.col < y.col; });
  for (ReferenceProductEntry& entry : out) {
    if (problem_.semiring != Semiring::plus_times) break;
    entry.value *= problem_.alpha;
    entry.magnitude *= std::fabs(problem_.alpha);
  }
}

}  // namespace csrkit
