// Conjugate gradients as in a textbook: float64, one thread, one right-hand side after the other.
// It shares only the diagonal of A and the report with the other solvers.
#include <cmath>

#include "core/base/stopwatch.h"
#include "core/solve/diagonal.h"
#include "cpu/solve/plan.h"

namespace csrkit::cpu {

namespace {

using Vector = std::vector<double>;

/// If a start from the true residual leaves more than this share of it, there is no other.
constexpr double kWorthAnotherStart = 0.5;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Vector column_of(const ConstDenseView& view, Index column) {
  Vector values;
  for (Index i = 0; i < view.rows; ++i) values.push_back(view.at(i, column));
  return values;
}

class Reference : public SolveMethod {
 public:
  explicit Reference(const SolveInput& input)
      : problem_(input.problem), m_(static_cast<std::size_t>(problem_.rows()), 1) {
    if (problem_.preconditioner.kind == PreconditionerKind::jacobi) {
      m_ = inverse_diagonal(problem_);
    }
  }

  SolveReport solve(ConstDenseView b, DenseView x) override {
    const Stopwatch clock;
    SolveReport report;
    std::vector<Vector> histories;
    for (Index column = 0; column < problem_.right_hand_sides; ++column) {
      histories.emplace_back();
      report.columns.push_back(solve_column(b, x, column, &histories.back()));
      report.iterations = std::max(report.iterations, report.columns.back().iterations);
    }
    report.runs = 1;
    for (std::size_t row = 0; row <= static_cast<std::size_t>(report.iterations); ++row) {
      for (const Vector& history : histories) {
        report.history.push_back(history[std::min(row, history.size() - 1)]);
      }
    }
    report.seconds = clock.seconds();
    return report;
  }

 private:
  Vector times(const Vector& p) const {
    Vector q(p.size(), 0);
    if (problem_.dense) {
      const ConstDenseView a = std::as_const(*problem_.dense).view();
      for (Index i = 0; i < a.rows; ++i) {
        for (Index j = 0; j < a.cols; ++j) {
          q[static_cast<std::size_t>(i)] += a.at(i, j) * p[static_cast<std::size_t>(j)];
        }
      }
      return q;
    }
    problem_.a.visit([&](const auto& a) {
      for (Index i = 0; i < a.rows; ++i) {
        for (Offset at = a.row_offsets[i]; at < a.row_offsets[i + 1]; ++at) {
          q[static_cast<std::size_t>(i)] +=
              a.template value_as<double>(at) * p[static_cast<std::size_t>(a.col_indices[at])];
        }
      }
    });
    return q;
  }

  Vector residual(const Vector& b, const Vector& x) const {
    Vector r = times(x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    return r;
  }

  Vector preconditioned(const Vector& r) const {
    Vector z = r;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= m_[i];
    return z;
  }

  ColumnReport solve_column(ConstDenseView rhs, DenseView result, Index column,
                            Vector* history) const {
    const Vector b = column_of(rhs, column);
    Vector x(b.size(), 0);
    ColumnReport report;
    report.rhs_norm = std::sqrt(dot(b, b));
    report.target_norm =
        std::max(problem_.relative_tolerance * report.rhs_norm, problem_.absolute_tolerance);
    if (problem_.has_guess && report.rhs_norm != 0) x = column_of(result, column);
    Vector r = residual(b, x), p = preconditioned(r), best = x;
    double rho = dot(r, p), norm = std::sqrt(dot(r, r)), best_norm = norm, start_norm = norm;
    history->push_back(norm);
    report.status = SolveStatus::iteration_limit;
    while (report.status == SolveStatus::iteration_limit) {
      if (!std::isfinite(norm)) {
        report.status = SolveStatus::not_finite;
      } else if (norm <= report.target_norm) {
        // What counts is the residual of x, from which the one carried along may have parted.
        r = residual(b, x);
        const double true_norm = std::sqrt(dot(r, r));
        if (true_norm <= report.target_norm) {
          report.status = SolveStatus::converged;
        } else if (true_norm > kWorthAnotherStart * start_norm) {
          report.status = SolveStatus::stagnated;
        } else {
          start_norm = norm = best_norm = true_norm;
          p = preconditioned(r);
          rho = dot(r, p);
        }
      } else if (report.iterations == problem_.limit()) {
        break;
      } else {
        const Vector q = times(p);
        const double curvature = dot(p, q);
        if (!(curvature > 0)) {
          report.status = std::isnan(curvature) ? SolveStatus::not_finite
                          : curvature < 0       ? SolveStatus::indefinite
                                                : SolveStatus::breakdown;
          report.curvature = curvature;
          break;
        }
        const double alpha = rho / curvature;
        for (std::size_t i = 0; i < x.size(); ++i) {
          x[i] += alpha * p[i];
          r[i] -= alpha * q[i];
        }
        const Vector z = preconditioned(r);
        const double rho_next = dot(r, z);
        for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + rho_next / rho * p[i];
        rho = rho_next;
        norm = std::sqrt(dot(r, r));
        ++report.iterations;
        history->push_back(norm);
        if (norm < best_norm) {
          best_norm = norm;
          best = x;
        }
      }
    }
    const Vector last = residual(b, best);
    report.recurrence_norm = best_norm;
    report.true_norm = std::sqrt(dot(last, last));
    for (Index i = 0; i < problem_.rows(); ++i) {
      result.set(i, column, best[static_cast<std::size_t>(i)]);
    }
    return report;
  }

  const SolveProblem& problem_;
  Vector m_;  // the diagonal of M^-1
};

}  // namespace

std::unique_ptr<SolveMethod> make_reference(const SolveInput& input) {
  return std::make_unique<Reference>(input);
}

}  // namespace csrkit::cpu
