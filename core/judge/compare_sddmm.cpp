// The judge of sampled products. See compare.h for the bound.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/team_errors.h"
#include "core/judge/compare.h"
#include "core/judge/compare_parts.h"
#include "core/judge/reference.h"

namespace csrkit {

namespace {

struct Product {
  const SddmmProblem& problem;
  ConstDenseView x, y;
  double alpha, beta;
  const ConstValuesView* c0;
  ConstValuesView c;

  Index row_of(Offset at) const {
    const Offset* const offsets = problem.a.row_offsets();
    return static_cast<Index>(std::upper_bound(offsets, offsets + problem.a.rows() + 1, at) -
                              offsets - 1);
  }
};

double bound_of(const Product& product, const ReferenceSample& expected) {
  const SddmmProblem& problem = product.problem;
  const double roundings = static_cast<double>(problem.dense_cols) + 4;
  const double computed = (gamma_of(roundings, unit_roundoff(problem.accumulate)) +
                           gamma_of(roundings, kDoubleRoundoff)) *
                          expected.magnitude;
  const double c_unit = problem.c == problem.accumulate ? 0 : unit_roundoff(problem.c);
  const double tiny = std::max(smallest_positive(problem.accumulate), smallest_positive(problem.c));
  return computed + rounding_of(std::fabs(expected.value) + computed, c_unit) +
         roundings * tiny * std::max(1.0, std::fabs(product.alpha)) *
             std::max(1.0, std::fabs(expected.factor));
}

/// Whether a partial sum, or a product of it with S or alpha, may lie outside the range of the
/// accumulation's kind.
bool may_leave_range(const Product& product, const ReferenceSample& expected) {
  const ValueKind kind = product.problem.accumulate;
  const double slack =
      1 + gamma_of(static_cast<double>(product.problem.dense_cols) + 4, unit_roundoff(kind));
  const double sum = expected.finite_sum;
  const double times_s = std::fabs(expected.factor) * sum;
  const double scaled = std::isfinite(expected.magnitude)
                            ? expected.magnitude
                            : std::fabs(product.alpha) * times_s + expected.finite_added;
  const auto fits = [&](double reached) { return reached * slack <= largest_finite(kind); };
  // An infinite S takes every sum along: that is no matter of range.
  return !fits(sum) || (std::isfinite(expected.factor) && (!fits(times_s) || !fits(scaled)));
}

bool is_right(const Product& product, const ReferenceSample& expected, double found, double bound) {
  if (std::isfinite(found) && std::isfinite(expected.value)) {
    return std::fabs(found - expected.value) <= bound;
  }
  const SddmmProblem& problem = product.problem;
  return SpecialEntry{expected.value,
                      found,
                      bound,
                      expected.special_sum,
                      may_leave_range(product, expected),
                      largest_stored(problem.c, problem.accumulate)}
      .is_right();
}

/// Compares one entry; returns error over bound.
double compare_entry(const Product& product, Index row, Offset at, Findings& findings) {
  const ReferenceSample expected = reference_sddmm_entry(
      product.problem, product.x, product.y, product.alpha, product.beta, product.c0, row, at);
  const double found = product.c.at(at), bound = bound_of(product, expected);
  const double error = std::fabs(found - expected.value);
  if (is_right(product, expected, found, bound)) {
    return std::isfinite(error) && error > 0 ? error / bound : 0;
  }
  const Index col = product.problem.a.col_indices()[at];
  findings.fail(row, col,
                "row " + std::to_string(row) + ", column " + std::to_string(col) + ": expected " +
                    text_of(expected.value) + ", found " + text_of(found) + ", error bound " +
                    text_of(bound) + " (" + std::to_string(product.problem.dense_cols) + " terms)");
  return std::isfinite(error) ? error / bound : std::numeric_limits<double>::infinity();
}

void compare_entries(const Product& product, const std::vector<Offset>& entries,
                     Findings& findings) {
  const auto count = static_cast<Offset>(entries.size());
  TeamErrors errors;
#pragma omp parallel
  {
    double worst = 0;
#pragma omp for schedule(dynamic, 64)
    for (Offset n = 0; n < count; ++n) {
      const Offset at = entries[static_cast<std::size_t>(n)];
      const Index row = product.row_of(at);
      if (!findings.concerns(row)) continue;
      errors.guard([&] { worst = std::max(worst, compare_entry(product, row, at, findings)); });
    }
    findings.merge_ratio(worst);
  }
  errors.rethrow();
}

void compare_all(const Product& product, Findings& findings) {
  const CsrMatrix& a = product.problem.a;
  // Waking a team costs more than a small comparison.
  const bool is_parallel = a.nnz() > (1 << 15) / product.problem.dense_cols;
  TeamErrors errors;
#pragma omp parallel if (is_parallel)
  {
    double worst = 0;
#pragma omp for schedule(dynamic, 64)
    for (Index row = 0; row < a.rows(); ++row) {
      for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
        if (!findings.concerns(row)) break;
        errors.guard([&] { worst = std::max(worst, compare_entry(product, row, at, findings)); });
      }
    }
    findings.merge_ratio(worst);
  }
  errors.rethrow();
}

/// `count` entries: half of them of the longest, the first and the last rows, if those have so
/// many; the others at random, one of every stretch. Sorted, each once.
std::vector<Offset> entries_to_sample(const Product& product, Offset count, std::uint64_t seed) {
  const CsrMatrix& a = product.problem.a;
  std::vector<Index> wanted = heaviest_rows(a.rows(), [&](Index row) { return a.row_length(row); });
  wanted.insert(wanted.begin(), {product.row_of(0), product.row_of(a.nnz() - 1)});
  std::vector<Offset> entries;
  for (const Index row : wanted) {
    for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
      if (static_cast<Offset>(entries.size()) >= count / 2) break;
      entries.push_back(at);
    }
  }
  const Offset stretches = std::min(count - static_cast<Offset>(entries.size()), a.nnz());
  for (Offset n = 0; n < stretches; ++n) {
    const auto begin = static_cast<Offset>(static_cast<__int128>(a.nnz()) * n / stretches);
    const auto end = static_cast<Offset>(static_cast<__int128>(a.nnz()) * (n + 1) / stretches);
    const std::uint64_t word = random_word(seed, 1, static_cast<std::uint64_t>(n));
    entries.push_back(begin +
                      static_cast<Offset>(below(word, static_cast<std::uint64_t>(end - begin))));
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

/// The first `most` entries of C that are no numbers.
std::vector<Offset> not_finite(const Product& product, Offset most) {
  std::vector<Offset> found;
  for (Offset at = 0; at < product.c.size && static_cast<Offset>(found.size()) < most; ++at) {
    if (!std::isfinite(product.c.at(at))) found.push_back(at);
  }
  return found;
}

/// Entries of the first and the longest rows and by chance, and some that are no numbers, as many
/// as the limit allows.
void compare_sample(const Product& product, const CheckOptions& options, Findings& findings,
                    CheckResult& result) {
  const auto nnz = static_cast<std::uint64_t>(product.problem.a.nnz());
  const auto dense_cols = static_cast<std::uint64_t>(product.problem.dense_cols);
  result.sampled = true;
  // Of the work, a quarter is for what is not finite.
  const auto affordable = static_cast<Offset>(
      std::min(nnz, std::max<std::uint64_t>(4, options.work_limit / dense_cols)));
  std::vector<Offset> sample;
  if (nnz > 0) sample = entries_to_sample(product, affordable - affordable / 4, options.seed);
  const std::vector<Offset> special = not_finite(product, std::max<Offset>(1, affordable / 4));
  compare_entries(product, sample, findings);
  compare_entries(product, special, findings);
  sample.insert(sample.end(), special.begin(), special.end());
  std::sort(sample.begin(), sample.end());
  Index last = -1;
  for (const Offset at : sample) {
    const Index row = product.row_of(at);
    result.rows_checked += row != last;
    last = row;
  }
}

}  // namespace

CheckResult check_sddmm(const SddmmProblem& problem, ConstDenseView x, ConstDenseView y,
                        double alpha, double beta, const ConstValuesView* c0, ConstValuesView c,
                        const CheckOptions& options) {
  require_legal(problem);
  require_bindable(problem, kEverySddmm, x, y, c);
  require_host(x.space, "X");
  require_host(y.space, "Y");
  require_host(c.space, "C");
  if (beta != 0) {
    if (c0 == nullptr) throw UsageError("a check with beta needs C as it was before");
    require_bindable(problem, kEverySddmm, x, y, *c0);
    require_host(c0->space, "C before");
  }
  const Product product{problem, x, y, alpha, beta, c0, c};
  CheckResult result;
  Findings findings;
  const auto nnz = static_cast<std::uint64_t>(problem.a.nnz());
  const auto dense_cols = static_cast<std::uint64_t>(problem.dense_cols);
  if (!options.always_samples &&
      (options.work_limit == 0 || nnz <= options.work_limit / dense_cols)) {
    compare_all(product, findings);
    result.rows_checked = problem.a.rows();
  } else {
    compare_sample(product, options, findings, result);
  }
  result.passed = !findings.failed();
  result.failure = findings.failure();
  result.worst_error_ratio = findings.worst_error_ratio();
  return result;
}

}  // namespace csrkit
