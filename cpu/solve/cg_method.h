// The solver around the iterations: what it owns, and the residual that each run begins with.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/stopwatch.h"
#include "cpu/solve/iterations.h"
#include "cpu/solve/preconditioners.h"
#include "cpu/solve/products.h"
#include "cpu/solve/true_residual.h"

namespace csrkit::cpu {

/// T is the kind of the iteration, X of the solution. Where they differ, an iteration in T finds
/// corrections to X.
template <class T, class X>
class HostMachine : public CgMachine {
 public:
  static constexpr bool kRefines = !std::is_same_v<T, X>;

  HostMachine(const SolveInput& input, CgIterations<T>& iterations)
      : problem_(input.problem),
        iterations_(iterations),
        loops_(problem_.rows(), problem_.right_hand_sides, input.threads),
        threads_(input.threads),
        scales_(static_cast<std::size_t>(problem_.right_hand_sides), 1) {
    if (!kRefines) return;
    const Offset size = Offset{loops_.rows()} * loops_.columns();
    input.budget.reserve(static_cast<std::uint64_t>(size) * (sizeof(X) + sizeof(T)),
                         "the residual and the correction");
    wide_residual_ = Buffer<double>(size);
    correction_ = Buffer<T>(size);
  }

  void bind(const X* b, X* x) {
    b_ = b;
    x_ = x;
  }

  std::vector<double> start() override {
    std::vector<double> norms = loops_.sums<1>([&](const auto& range, double* sum) {
      for (Index row = range.first; row < range.last; ++row) {
        const auto value = static_cast<double>(b_[range.offset(row)]);
        sum[0] += value * value;
      }
    });
    for (double& norm : norms) norm = std::sqrt(norm);
    loops_.each([&](const auto& range) {
      if (problem_.has_guess && norms[static_cast<std::size_t>(range.column)] != 0) return;
      for (Index row = range.first; row < range.last; ++row) x_[range.offset(row)] = 0;
    });
    return norms;
  }

  std::vector<double> renew_residual() override {
    double* const wide = wide_residual_.data();
    T* const residual = iterations_.residual();
    std::vector<double> norms =
        true_residual(problem_, b_, x_, loops_, [&](Offset i, double value) {
          if constexpr (kRefines) {
            wide[i] = value;
          } else {
            residual[i] = static_cast<T>(value);
          }
        });
    if constexpr (kRefines) {
      // The residual is scaled to length 1: so neither it nor its squares leave the range of T.
      for (std::size_t j = 0; j < norms.size(); ++j) scales_[j] = norms[j] > 0 ? norms[j] : 1;
      loops_.each([&](const auto& range) {
        const double scale = scales_[static_cast<std::size_t>(range.column)];
        for (Index row = range.first; row < range.last; ++row) {
          const Offset i = range.offset(row);
          residual[i] = static_cast<T>(wide[i] / scale);
          correction_[i] = 0;
        }
      });
    }
    return norms;
  }

  std::vector<ColumnRun> run(const std::vector<double>& targets, Offset limit,
                             std::vector<double>* history) override {
    if constexpr (kRefines) {
      std::vector<double> scaled = targets;
      for (std::size_t j = 0; j < scaled.size(); ++j) scaled[j] /= scales_[j];
      std::vector<ColumnRun> runs =
          iterations_.run(correction_.data(), scaled, scales_, limit, problem_.progress, history);
      for (std::size_t j = 0; j < runs.size(); ++j) runs[j].norm *= scales_[j];
      loops_.each([&](const auto& range) {
        const double scale = scales_[static_cast<std::size_t>(range.column)];
        for (Index row = range.first; row < range.last; ++row) {
          const Offset i = range.offset(row);
          x_[i] += scale * static_cast<double>(correction_[i]);
        }
      });
      return runs;
    } else {
      return iterations_.run(x_, targets, scales_, limit, problem_.progress, history);
    }
  }

 private:
  const SolveProblem& problem_;
  CgIterations<T>& iterations_;
  VectorLoops loops_;
  int threads_;
  const X* b_ = nullptr;
  X* x_ = nullptr;
  std::vector<double> scales_;  // of the residual that the iteration works on
  Buffer<double> wide_residual_;
  Buffer<T> correction_;
};

/// A solver whose iterations are `Iterations`, CgIterations<T> or derived from it.
template <class T, class X, class Iterations = CgIterations<T>>
class CgMethod : public SolveMethod {
 public:
  explicit CgMethod(const SolveInput& input)
      : problem_(input.problem),
        threads_(input.threads),
        product_joins_teams_(joins_teams(input)),
        product_(make_product(input, kValueKindOf<T>)),
        preconditioner_(make_preconditioner<T>(input, *product_, &spectrum_)) {
    input.budget.reserve(CgIterations<T>::size_bytes(problem_.rows(), problem_.right_hand_sides),
                         "the vectors of the iteration");
    iterations_ = std::make_unique<Iterations>(problem_.rows(), problem_.right_hand_sides,
                                               input.threads, *product_, preconditioner_.get());
    machine_ = std::make_unique<HostMachine<T, X>>(input, *iterations_);
  }

  SolveReport solve(ConstDenseView b, DenseView x) override {
    const Stopwatch clock;
    machine_->bind(b.as<X>(), x.as<X>());
    SolveReport report;
    const auto drive = [&] { report = drive_cg(*machine_, problem_, HostMachine<T, X>::kRefines); };
    if (Iterations::kJoinsTeams && product_joins_teams_) {
      ResidentTeam::lead(threads_, drive);
    } else {
      drive();
    }
    report.lowest_eigenvalue = spectrum_.first;
    report.highest_eigenvalue = spectrum_.second;
    report.seconds = clock.seconds();
    return report;
  }

  std::string choice() const override {
    const std::string why = product_->choice();
    return why.empty() ? "" : "products: " + why;
  }

 private:
  const SolveProblem& problem_;
  int threads_;
  bool product_joins_teams_;
  std::pair<double, double> spectrum_{0, 0};
  std::unique_ptr<Operator> product_;
  std::unique_ptr<CpuPreconditioner<T>> preconditioner_;
  std::unique_ptr<Iterations> iterations_;
  std::unique_ptr<HostMachine<T, X>> machine_;
};

}  // namespace csrkit::cpu
