#include "core/judge/compare.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/counted.h"
#include "core/base/team_errors.h"
#include "core/judge/compare_parts.h"
#include "core/judge/projections.h"
#include "core/judge/reference.h"

namespace csrkit {

namespace {

/// What can be said of the terms of one entry when something is not finite.
struct Operands {
  double special_sum = 0;   // of the terms with an operand, alpha or beta that is not finite
  double finite_sum = 0;    // sum |a b| over the finite terms: what partial sums may reach
  double finite_added = 0;  // |beta c0|, if c0 is finite
};

/// Everything a comparison needs, with A stored by rows of op(A).
struct Product {
  const SpmmProblem& problem;
  const CsrMatrix& op_a;
  ConstDenseView b;
  double alpha;
  double beta;
  const ConstDenseView* c0;
  ConstDenseView c;

  std::uint64_t work_per_column() const {
    return static_cast<std::uint64_t>(op_a.nnz()) + static_cast<std::uint64_t>(c.rows);
  }

  Operands operands_of(Index row, Index col) const {
    Operands found;
    for (Offset at = op_a.row_offsets()[row]; at < op_a.row_offsets()[row + 1]; ++at) {
      const double x = op_a.visit([&](auto view) { return view.template value_as<double>(at); });
      const double y = b.at(op_a.col_indices()[at], col);
      const bool is_finite = std::isfinite(x) && std::isfinite(y);
      if (is_finite) found.finite_sum += std::fabs(x * y);
      if (!is_finite) found.special_sum += x * y;
    }
    found.special_sum *= alpha;
    if (beta != 0) {
      const double before = c0->at(row, col);
      if (std::isfinite(before)) found.finite_added = std::fabs(beta * before);
      if (!std::isfinite(before) || !std::isfinite(beta)) found.special_sum += beta * before;
    }
    return found;
  }
};

/// Is `found` right although it or the expectation is NaN or infinite?
bool special_entry_is_right(const Product& product, Index row, Index col,
                            const ReferenceEntry& expected, double found, double bound) {
  const SpmmProblem& problem = product.problem;
  const Operands operands = product.operands_of(row, col);
  const ReferenceSum sum{product.op_a.row_length(row), expected.value, expected.magnitude,
                         operands.finite_sum, operands.finite_added};
  return SpecialEntry{expected.value,
                      found,
                      bound,
                      operands.special_sum,
                      may_leave_range(sum, problem.accumulate, problem.semiring, product.alpha),
                      largest_stored(problem.c, problem.accumulate)}
      .is_right();
}

/// spmm_error_bound for the entries of one row: what they share is computed once.
class RowBound {
 public:
  RowBound(const SpmmProblem& problem, Offset terms, double alpha) : semiring_(problem.semiring) {
    const double roundings = static_cast<double>(terms) + 3;
    unit_ = unit_roundoff(problem.accumulate);
    c_unit_ = problem.c == problem.accumulate ? 0 : unit_roundoff(problem.c);
    tiny_ = std::max(smallest_positive(problem.accumulate), smallest_positive(problem.c));
    of_magnitude_ = gamma_of(roundings, unit_) + gamma_of(roundings, kDoubleRoundoff);
    of_any_ = roundings * tiny_ * std::max(1.0, std::fabs(alpha));
  }

  double operator()(const ReferenceEntry& expected) const {
    const double size = std::fabs(expected.value);
    if (semiring_ == Semiring::or_and) return 0;
    if (semiring_ != Semiring::plus_times) return (unit_ + kDoubleRoundoff) * size + tiny_;
    const double computed = of_magnitude_ * expected.magnitude;
    return computed + rounding_of(size + computed, c_unit_) + of_any_;
  }

 private:
  Semiring semiring_;
  double unit_, c_unit_, tiny_;
  double of_magnitude_, of_any_;  // of sums of products
};

/// Compares columns [first_col, first_col + count) of one row; returns the worst error ratio.
double compare_row(const Product& product, Index row, Index first_col, Index count,
                   std::vector<ReferenceEntry>& scratch, Findings& findings) {
  scratch.resize(static_cast<std::size_t>(count));
  const auto slice = [&](ConstDenseView view) {
    view.data = static_cast<const char*>(view.data) + Offset{first_col} * size_of(view.kind);
    view.cols = count;
    return view;
  };
  const ConstDenseView c = slice(product.c);
  ConstDenseView c0;
  if (product.beta != 0) c0 = slice(*product.c0);
  reference_spmm_row(product.op_a, slice(product.b), product.problem.semiring, product.alpha,
                     product.beta, product.beta != 0 ? &c0 : nullptr, row, scratch.data());
  const Offset terms = product.op_a.row_length(row);
  const RowBound bound_of(product.problem, terms, product.alpha);
  double worst = 0;
  for (Index j = 0; j < count; ++j) {
    const ReferenceEntry& expected = scratch[static_cast<std::size_t>(j)];
    const double found = c.at(row, j);
    const double bound = bound_of(expected);
    const double error = std::fabs(found - expected.value);
    bool right;
    if (std::isfinite(found) && std::isfinite(expected.value)) {
      right = error <= bound;
      if (error > 0) worst = std::max(worst, error / bound);
    } else {
      right = special_entry_is_right(product, row, first_col + j, expected, found, bound);
      if (!right) worst = std::numeric_limits<double>::infinity();
    }
    if (!right) {
      findings.fail(row, first_col + j,
                    "row " + std::to_string(row) + ", column " + std::to_string(first_col + j) +
                        ": expected " + text_of(expected.value) + ", found " + text_of(found) +
                        ", error bound " + text_of(bound) + " (" + std::to_string(terms) +
                        " terms)");
      break;
    }
  }
  return worst;
}

void compare_rows(const Product& product, const std::vector<Index>& rows, Findings& findings) {
  const auto count = static_cast<Offset>(rows.size());
  TeamErrors errors;
#pragma omp parallel
  {
    std::vector<ReferenceEntry> scratch;
    double worst = 0;
#pragma omp for schedule(dynamic, 1)
    for (Offset i = 0; i < count; ++i) {
      const Index row = rows[static_cast<std::size_t>(i)];
      if (!findings.concerns(row)) continue;
      errors.guard([&] {
        worst = std::max(worst, compare_row(product, row, 0, product.c.cols, scratch, findings));
      });
    }
    findings.merge_ratio(worst);
  }
  errors.rethrow();
}

/// Columns [first_col, first_col + count) of every row.
void compare_columns(const Product& product, Index first_col, Index count, Findings& findings) {
  // Waking a team costs more than a small comparison.
  const bool is_parallel = product.op_a.nnz() + product.c.rows > (1 << 15) / count;
  TeamErrors errors;
#pragma omp parallel if (is_parallel)
  {
    std::vector<ReferenceEntry> scratch;
    double worst = 0;
#pragma omp for schedule(dynamic, 64)
    for (Index row = 0; row < product.c.rows; ++row) {
      if (!findings.concerns(row)) continue;
      errors.guard([&] {
        worst = std::max(worst, compare_row(product, row, first_col, count, scratch, findings));
      });
    }
    findings.merge_ratio(worst);
  }
  errors.rethrow();
}

/// Rows of dense matrices times the random vector.
class Projector {
 public:
  Projector(Index cols, std::uint64_t seed) : signs_(cols) {
    for (Index j = 0; j < cols; ++j) signs_[j] = sign_of(seed, j);
  }

  Projection operator()(const ConstDenseView& dense, Index row) const {
    return with_value_type(dense.kind, [&](auto tag) {
      using T = typename decltype(tag)::type;
      Projection sum;
      if constexpr (!std::is_same_v<T, ImplicitOne>) {
        const T* values = dense.as<T>() + Offset{row} * dense.leading_dim;
        for (Index j = 0; j < dense.cols; ++j) sum.add(load_as<double>(values[j]), {signs_[j], 1});
      }
      return sum;
    });
  }

 private:
  Buffer<double> signs_;
};

/// C x against alpha op(A) (B x) + beta C0 x.
UnprojectedRows compare_projections(const Product& product, std::uint64_t seed,
                                    Findings& findings) {
  const Projector project(product.c.cols, seed);
  const Index inputs = product.b.rows;
  Buffer<Projection> of_b(inputs);
#pragma omp parallel for schedule(static)
  for (Index k = 0; k < inputs; ++k) of_b[k] = project(product.b, k);
  const SpmmProblem& problem = product.problem;
  const double unit = unit_roundoff(problem.accumulate);
  const double c_unit = problem.c == problem.accumulate ? 0 : unit_roundoff(problem.c);
  const double tiny = std::max(smallest_positive(problem.accumulate), smallest_positive(problem.c));
  const double dense_cols = product.c.cols;
  const auto project_row = [&](Index row) {
    ProjectedRow of;
    product.op_a.visit([&](auto a) {
      for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
        of.expected.add(a.template value_as<double>(at), of_b[a.col_indices[at]]);
      }
    });
    of.expected.scale(product.alpha);
    if (product.beta != 0) of.expected.add(product.beta, project(*product.c0, row));
    of.found = project(product.c, row);
    const auto terms = static_cast<double>(product.op_a.row_length(row));
    of.bound =
        (gamma_of(terms + 3, unit) + gamma_of(terms + dense_cols + 6, kDoubleRoundoff)) *
            of.expected.absolute +
        (c_unit / (1 - c_unit) + gamma_of(dense_cols + 1, kDoubleRoundoff)) * of.found.absolute +
        dense_cols * (terms + 3) * tiny * std::max(1.0, std::fabs(product.alpha));
    return of;
  };
  const auto note = [&](Index row) {
    return " (" + std::to_string(product.op_a.row_length(row)) + " terms, " +
           counted(product.c.cols, "column") + ")";
  };
  return compare_projections(product.c.rows, project_row, note, findings);
}

/// Rows chosen by their length and by chance, as many as the limits allow. With plus-times all rows
/// by their projections, too; else some columns.
void compare_sample(const Product& product, const CheckOptions& options, Findings& findings,
                    CheckResult& result) {
  const std::uint64_t work_per_column = product.work_per_column();
  const auto dense_cols = static_cast<std::uint64_t>(product.c.cols);
  result.sampled = true;
  std::uint64_t budget = options.work_limit;
  const auto cost = [&](Index row) {
    return (static_cast<std::uint64_t>(product.op_a.row_length(row)) + 1) * dense_cols;
  };
  const std::vector<Index> sample = rows_to_sample(
      product.c.rows, [&](Index row) { return product.op_a.row_length(row); }, cost,
      options.sampled_rows, options.seed, budget);
  compare_rows(product, sample, findings);
  auto checked = static_cast<Index>(sample.size());
  if (product.problem.semiring == Semiring::plus_times) {
    const UnprojectedRows special = compare_projections(product, options.seed, findings);
    result.has_projections = true;
    compare_rows(product, special.on_one_side, findings);
    const std::vector<Index> expected_special = affordable_of(special.on_both_sides, cost, budget);
    compare_rows(product, expected_special, findings);
    std::vector<Index> all = sample;
    all.insert(all.end(), special.on_one_side.begin(), special.on_one_side.end());
    all.insert(all.end(), expected_special.begin(), expected_special.end());
    std::sort(all.begin(), all.end());
    checked = static_cast<Index>(std::unique(all.begin(), all.end()) - all.begin());
  } else {
    // At least one column, however small the limit: every row must have been looked at.
    const std::uint64_t affordable = std::max<std::uint64_t>(1, budget / (work_per_column + 1));
    for (std::uint64_t i = 0; i < std::min(affordable, dense_cols); ++i) {
      const std::uint64_t word = random_word(options.seed, 3, i);
      compare_columns(product, static_cast<Index>(below(word, dense_cols)), 1, findings);
    }
  }
  result.rows_checked = checked;
}

void require_result(const SpmmProblem& problem, const ConstDenseView& b, const ConstDenseView& c,
                    const char* name) {
  // The judge reads whatever it is given; only the arithmetic's shape must fit the problem.
  const DenseView writable{
      const_cast<void*>(c.data), c.kind, c.rows, c.cols, c.leading_dim, c.space};
  require_bindable(shape_of(problem, MemorySpace::host), kEverything, b, writable);
  require_host(c.space, name);
}

}  // namespace

double spmm_error_bound(const SpmmProblem& problem, Offset terms, double reference,
                        double magnitude, double alpha) {
  return RowBound(problem, terms, alpha)({reference, magnitude});
}

CheckResult check_spmm(const SpmmProblem& problem, ConstDenseView b, double alpha, double beta,
                       const ConstDenseView* c0, ConstDenseView c, const CheckOptions& options) {
  require_legal(problem);
  require_multipliable(problem.semiring, kEverything, problem.accumulate, alpha, beta);
  require_host(b.space, "B");
  require_result(problem, b, c, "C");
  if (beta != 0) {
    if (c0 == nullptr) throw UsageError("a check with beta needs C as it was before");
    require_result(problem, b, *c0, "C before");
  }
  const CsrMatrix op_a = problem.transpose_a ? transpose(problem.a) : problem.a;
  const Product product{problem, op_a, b, alpha, beta, c0, c};

  CheckResult result;
  Findings findings;
  const auto dense_cols = static_cast<std::uint64_t>(c.cols);
  if (!options.always_samples &&
      (options.work_limit == 0 || product.work_per_column() <= options.work_limit / dense_cols)) {
    compare_columns(product, 0, c.cols, findings);
    result.rows_checked = c.rows;
  } else {
    compare_sample(product, options, findings, result);
  }
  result.passed = !findings.failed();
  result.failure = findings.failure();
  result.worst_error_ratio = findings.worst_error_ratio();
  return result;
}

}  // namespace csrkit
