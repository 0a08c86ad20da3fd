// The judge of sparse products. See compare.h for the bound.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/team_errors.h"
#include "core/facts/matrix_stats.h"
#include "core/judge/compare.h"
#include "core/judge/compare_parts.h"
#include "core/judge/projections.h"
#include "core/judge/reference.h"
#include "core/matrix/csr_checks.h"
#include "core/matrix/sorted_rows.h"

namespace csrkit {

namespace {

struct Product {
  const SpgemmProblem& problem;
  const CsrMatrix& op_b;
  const CsrMatrix& c;
  SpmmProblem kinds;  // what the bound depends on

  double value_of(Offset at) const {
    return c.visit([&](auto view) { return view.template value_as<double>(at); });
  }
  double bound_of(const ReferenceProductEntry& entry) const {
    return spmm_error_bound(kinds, entry.terms, entry.value, entry.magnitude, problem.alpha);
  }
};

bool may_leave_range(const Product& product, const ReferenceProductEntry& expected) {
  const SpgemmProblem& problem = product.problem;
  return may_leave_range({expected.terms, expected.value, expected.magnitude, expected.finite_sum},
                         problem.accumulate, problem.semiring, problem.alpha);
}

bool value_is_right(const Product& product, const ReferenceProductEntry& expected, double found,
                    double bound, double& worst) {
  if (std::isfinite(found) && std::isfinite(expected.value)) {
    const double error = std::fabs(found - expected.value);
    if (error > 0) worst = std::max(worst, error / bound);
    return error <= bound;
  }
  return SpecialEntry{expected.value,
                      found,
                      bound,
                      product.problem.alpha * expected.special_sum,
                      may_leave_range(product, expected),
                      largest_stored(product.problem.c, product.problem.accumulate)}
      .is_right();
}

enum class Presence { must, may, must_not };

Presence presence_of(const Product& product, const ReferenceProductEntry& expected, double bound) {
  const double threshold = product.problem.drop_below;
  if (threshold == 0) return Presence::must;
  if (!std::isfinite(expected.value)) {
    return may_leave_range(product, expected) ? Presence::may : Presence::must;
  }
  if (std::fabs(expected.value) - bound >= threshold) return Presence::must;
  return std::fabs(expected.value) + bound < threshold ? Presence::must_not : Presence::may;
}

/// Compares one row; returns the worst error ratio.
double compare_row(const Product& product, Index row, ReferenceSpgemm& reference,
                   std::vector<ReferenceProductEntry>& expected, Findings& findings) {
  reference.row(row, expected);
  double worst = 0;
  Offset at = product.c.row_offsets()[row];
  const Offset end = product.c.row_offsets()[row + 1];
  const auto fail = [&](Index col, const std::string& text) {
    findings.fail(row, col,
                  "row " + std::to_string(row) + ", column " + std::to_string(col) + ": " + text);
    return std::numeric_limits<double>::infinity();
  };
  for (const ReferenceProductEntry& entry : expected) {
    const double bound = product.bound_of(entry);
    const Presence presence = presence_of(product, entry, bound);
    const Index found_col = at < end ? product.c.col_indices()[at] : product.c.cols();
    if (found_col < entry.col) {
      return fail(found_col, "expected no entry, found " + text_of(product.value_of(at)));
    }
    if (found_col > entry.col) {
      if (presence != Presence::must) continue;
      return fail(entry.col, "expected " + text_of(entry.value) + ", found no entry");
    }
    const double found = product.value_of(at++);
    if (presence == Presence::must_not ||
        (product.problem.drop_below > 0 && std::fabs(found) < product.problem.drop_below)) {
      return fail(entry.col, "expected no entry below " + text_of(product.problem.drop_below) +
                                 ", found " + text_of(found));
    }
    if (!value_is_right(product, entry, found, bound, worst)) {
      return fail(entry.col, "expected " + text_of(entry.value) + ", found " + text_of(found) +
                                 ", error bound " + text_of(bound) + " (" +
                                 std::to_string(entry.terms) + " terms)");
    }
  }
  if (at < end) {
    return fail(product.c.col_indices()[at],
                "expected no entry, found " + text_of(product.value_of(at)));
  }
  return worst;
}

void compare_rows(const Product& product, const std::vector<Index>* rows, Findings& findings) {
  const Offset count = rows != nullptr ? static_cast<Offset>(rows->size()) : product.c.rows();
  const auto threads = static_cast<int>(std::clamp<Offset>(count, 1, omp_get_max_threads()));
  std::vector<std::optional<ReferenceSpgemm>> references(static_cast<std::size_t>(threads));
  TeamErrors errors;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int i = 0; i < threads; ++i) {
    errors.guard(
        [&] { references[static_cast<std::size_t>(i)].emplace(product.problem, product.op_b); });
  }
  errors.rethrow();
#pragma omp parallel num_threads(threads)
  {
    ReferenceSpgemm& reference = *references[static_cast<std::size_t>(omp_get_thread_num())];
    std::vector<ReferenceProductEntry> scratch;
    double worst = 0;
#pragma omp for schedule(dynamic, 8)
    for (Offset i = 0; i < count; ++i) {
      const Index row =
          rows != nullptr ? (*rows)[static_cast<std::size_t>(i)] : static_cast<Index>(i);
      if (!findings.concerns(row)) continue;
      errors.guard([&] {
        worst = std::max(worst, compare_row(product, row, reference, scratch, findings));
      });
    }
    findings.merge_ratio(worst);
  }
  errors.rethrow();
}

/// C x against alpha A (op(B) x).
UnprojectedRows compare_projections(const Product& product, const Buffer<Offset>& products,
                                    const CheckOptions& options, Findings& findings) {
  const CsrMatrix& a = product.problem.a;
  const double unit = unit_roundoff(product.problem.accumulate);
  const double tiny = smallest_positive(product.problem.accumulate);
  const double alpha = product.problem.alpha;
  const auto project = [&](const CsrMatrix& matrix, Index row) {
    Projection sum;
    matrix.visit([&](auto view) {
      for (Offset at = view.row_offsets[row]; at < view.row_offsets[row + 1]; ++at) {
        sum.add(view.template value_as<double>(at),
                {sign_of(options.seed, view.col_indices[at]), 1});
      }
    });
    return sum;
  };
  Buffer<Projection> of_b(product.op_b.rows());
#pragma omp parallel for schedule(dynamic, 256)
  for (Index k = 0; k < product.op_b.rows(); ++k) of_b[k] = project(product.op_b, k);
  const auto project_row = [&](Index row) {
    ProjectedRow of;
    a.visit([&](auto view) {
      for (Offset at = view.row_offsets[row]; at < view.row_offsets[row + 1]; ++at) {
        of.expected.add(view.template value_as<double>(at), of_b[view.col_indices[at]]);
      }
    });
    of.expected.scale(alpha);
    of.found = project(product.c, row);
    // No entry has more terms than A's row; the sums here have as many as there are products.
    const auto terms = static_cast<double>(a.row_length(row));
    const auto entries = static_cast<double>(product.c.row_length(row));
    of.bound = (gamma_of(terms + 3, unit) +
                gamma_of(static_cast<double>(products[row]) + 6, kDoubleRoundoff)) *
                   of.expected.absolute +
               gamma_of(entries + 1, kDoubleRoundoff) * of.found.absolute +
               (entries + 1) * (terms + 3) * tiny * std::max(1.0, std::fabs(alpha));
    return of;
  };
  return compare_projections(
      a.rows(), project_row, [](Index) { return ""; }, findings);
}

/// Rows chosen by their work and by chance, as many as the limits allow; and all rows by their
/// projections, where sums of products are all that makes an entry.
void compare_sample(const Product& product, const Buffer<Offset>& products,
                    const CheckOptions& options, Findings& findings, CheckResult& result) {
  const SpgemmProblem& problem = product.problem;
  result.sampled = true;
  std::uint64_t budget = options.work_limit;
  const auto weight = [&](Index row) { return products[row]; };
  const auto cost = [&](Index row) { return static_cast<std::uint64_t>(products[row]) + 1; };
  std::vector<Index> rows =
      rows_to_sample(product.c.rows(), weight, cost, options.sampled_rows, options.seed, budget);
  if (problem.semiring == Semiring::plus_times && !problem.mask && problem.drop_below == 0) {
    const UnprojectedRows special = compare_projections(product, products, options, findings);
    result.has_projections = true;
    const std::vector<Index> expected = affordable_of(special.on_both_sides, cost, budget);
    rows.insert(rows.end(), special.on_one_side.begin(), special.on_one_side.end());
    rows.insert(rows.end(), expected.begin(), expected.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  }
  compare_rows(product, &rows, findings);
  result.rows_checked = static_cast<Index>(rows.size());
}

}  // namespace

CheckResult check_spgemm(const SpgemmProblem& problem, const CsrMatrix& given,
                         const CheckOptions& options) {
  require_legal(problem);
  CheckResult result;
  const auto failed = [&](const std::string& why) {
    result.passed = false;
    result.failure = why;
    return result;
  };
  if (given.rows() != problem.output_rows() || given.cols() != problem.output_cols() ||
      given.value_kind() != problem.c) {
    return failed("C is " + std::to_string(given.rows()) + " x " + std::to_string(given.cols()) +
                  ", " + name_of(given.value_kind()) + "; expected " +
                  std::to_string(problem.output_rows()) + " x " +
                  std::to_string(problem.output_cols()) + ", " + name_of(problem.c));
  }
  CsrMatrix c = given;
  try {
    require_row_offsets(c.row_offsets(), c.rows(), c.nnz(), "C", "compute it again");
    if (!problem.sorts_rows) c = with_sorted_rows(c);
    require_columns(c.row_offsets(), c.col_indices(), c.rows(), c.cols(), "C", "compute it again");
  } catch (const InputError& error) {
    return failed(error.what());
  }
  const CsrMatrix op_b = problem.transpose_b ? transpose(problem.b) : problem.b;
  Product product{problem, op_b, c, {}};
  product.kinds.accumulate = problem.accumulate;
  product.kinds.c = problem.c;
  product.kinds.semiring = problem.semiring;

  Findings findings;
  Buffer<Offset> products(problem.a.rows());
  const auto work = static_cast<std::uint64_t>(spgemm_products(problem.a, op_b, products.data())) +
                    static_cast<std::uint64_t>(problem.a.rows());
  const bool is_cheap = options.work_limit == 0 || work <= options.work_limit;
  if (work == 0 || (is_cheap && !options.always_samples)) {
    compare_rows(product, nullptr, findings);
    result.rows_checked = c.rows();
  } else {
    compare_sample(product, products, options, findings, result);
  }
  result.passed = !findings.failed();
  result.failure = findings.failure();
  result.worst_error_ratio = findings.worst_error_ratio();
  return result;
}

}  // namespace csrkit
