#include "cpu/solve/preconditioners.h"

#include "core/solve/chebyshev.h"
#include "core/solve/diagonal.h"
#include "cpu/solve/iterations.h"

namespace csrkit::cpu {

namespace {

template <class T>
Buffer<T> narrowed(const std::vector<double>& numbers) {
  Buffer<T> copy(static_cast<Offset>(numbers.size()));
  for (Offset i = 0; i < copy.size(); ++i) {
    copy[i] = static_cast<T>(numbers[static_cast<std::size_t>(i)]);
  }
  return copy;
}

template <class T>
class Jacobi : public CpuPreconditioner<T> {
 public:
  explicit Jacobi(const SolveInput& input) {
    input.budget.reserve(static_cast<std::uint64_t>(input.problem.rows()) * sizeof(T),
                         "the inverse diagonal");
    inverse_ = narrowed<T>(inverse_diagonal(input.problem));
  }
  const T* inverse_diagonal() const override { return inverse_.data(); }

 private:
  // The same name as the function that computes it, seen from inside of the class.
  static std::vector<double> inverse_diagonal(const SolveProblem& problem) {
    return csrkit::inverse_diagonal(problem);
  }
  Buffer<T> inverse_;
};

template <class T>
class BlockJacobi : public CpuPreconditioner<T> {
 public:
  explicit BlockJacobi(const SolveInput& input)
      : columns_(input.problem.right_hand_sides), threads_(input.threads) {
    input.budget.reserve(inverse_blocks_bytes(input.problem.preconditioner.blocks),
                         "the inverse diagonal blocks");
    blocks_ = inverse_blocks(input.problem, input.threads);
    values_ = narrowed<T>(blocks_.values);
    blocks_.values = {};
  }

  void apply(const T* r, T* z) override {
    in_team(threads_, [&](int thread, int threads) {
      const Index end = begin_of_share(blocks_.blocks(), thread + 1, threads);
      for (Index block = begin_of_share(blocks_.blocks(), thread, threads); block < end; ++block) {
        apply_block(block, r, z);
      }
    });
  }

 private:
  void apply_block(Index block, const T* r, T* z) const {
    const auto at = static_cast<std::size_t>(block);
    const Index size = blocks_.size_of_block(block);
    const Index* const rows = blocks_.rows.data() + blocks_.row_begins[at];
    const T* inverse = values_.data() + blocks_.value_begins[at];
    for (Index i = 0; i < size; ++i, inverse += size) {
      for (Index column = 0; column < columns_; ++column) {
        T sum = 0;
        for (Index j = 0; j < size; ++j) sum += inverse[j] * r[Offset{rows[j]} * columns_ + column];
        z[Offset{rows[i]} * columns_ + column] = sum;
      }
    }
  }

  Index columns_;
  int threads_;
  InverseBlocks blocks_;
  Buffer<T> values_;
};

template <class T>
class Chebyshev : public CpuPreconditioner<T> {
 public:
  Chebyshev(const SolveInput& input, Operator& product, std::pair<double, double>* spectrum)
      : product_(product),
        jacobi_(input),
        loops_(input.problem.rows(), input.problem.right_hand_sides, input.threads) {
    const Offset size = Offset{loops_.rows()} * loops_.columns();
    input.budget.reserve(2 * static_cast<std::uint64_t>(size) * sizeof(T), "two more vectors");
    *spectrum = interval_of(input);
    steps_ =
        chebyshev_steps(input.problem.preconditioner.degree, spectrum->first, spectrum->second);
    d_ = Buffer<T>(size);
    t_ = Buffer<T>(size);
  }

  void apply(const T* r, T* z) override {
    const T* const inverse = jacobi_.inverse_diagonal();
    const T first = static_cast<T>(steps_.first);
    loops_.each([&](const auto& range) {
      for (Index row = range.first; row < range.last; ++row) {
        const Offset i = range.offset(row);
        z[i] = d_[i] = first * inverse[row] * r[i];
      }
    });
    for (const ChebyshevSteps::Step& step : steps_.steps) {
      product_.bind(DenseVectors<T>::view(z, loops_.rows(), loops_.columns()),
                    DenseVectors<T>::view(t_.data(), loops_.rows(), loops_.columns()));
      product_.multiply();
      const T keep = static_cast<T>(step.keep), add = static_cast<T>(step.add);
      loops_.each([&](const auto& range) {
#pragma omp simd
        for (Index row = range.first; row < range.last; ++row) {
          const Offset i = range.offset(row);
          d_[i] = keep * d_[i] + add * inverse[row] * (r[i] - t_[i]);
          z[i] += d_[i];
        }
      });
    }
  }

 private:
  /// A short run with Jacobi from a right-hand side that has a part in every eigenvector.
  std::pair<double, double> interval_of(const SolveInput& input) {
    CgIterations<T> iterations(loops_.rows(), loops_.columns(), input.threads, product_, &jacobi_);
    DenseMatrix x(loops_.rows(), loops_.columns(), kValueKindOf<T>);
    fill_random(DenseVectors<T>::view(iterations.residual(), loops_.rows(), loops_.columns()), 1);
    for (Offset i = 0; i < Offset{loops_.rows()} * loops_.columns(); ++i) x.view().as<T>()[i] = 0;
    CgSteps steps;
    std::vector<double> history;
    const auto columns = static_cast<std::size_t>(loops_.columns());
    // The run ends at this norm, before its steps are nothing but rounding.
    iterations.run(x.view().as<T>(), std::vector<double>(columns, 1e-3),
                   std::vector<double>(columns, 1), kSpectrumIterations, {}, &history, &steps);
    return chebyshev_interval(steps, scaled_row_sum_bound(input.problem));
  }

  Operator& product_;
  Jacobi<T> jacobi_;
  VectorLoops loops_;
  ChebyshevSteps steps_;
  Buffer<T> d_, t_;
};

}  // namespace

template <class T>
std::unique_ptr<CpuPreconditioner<T>> make_preconditioner(const SolveInput& input,
                                                          Operator& product,
                                                          std::pair<double, double>* spectrum) {
  switch (input.problem.preconditioner.kind) {
    case PreconditionerKind::none: return nullptr;
    case PreconditionerKind::jacobi: return std::make_unique<Jacobi<T>>(input);
    case PreconditionerKind::block_jacobi: return std::make_unique<BlockJacobi<T>>(input);
    case PreconditionerKind::chebyshev:
      return std::make_unique<Chebyshev<T>>(input, product, spectrum);
  }
  return nullptr;
}

template std::unique_ptr<CpuPreconditioner<float>> make_preconditioner(const SolveInput&, Operator&,
                                                                       std::pair<double, double>*);
template std::unique_ptr<CpuPreconditioner<double>> make_preconditioner(const SolveInput&,
                                                                        Operator&,
                                                                        std::pair<double, double>*);

}  // namespace csrkit::cpu
