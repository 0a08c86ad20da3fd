#include "gpu/solve/machine.h"

#include <cmath>

#include "core/solve/diagonal.h"
#include "gpu/device/cuda_check.h"
#include "gpu/solve/dense/products.h"
#include "gpu/solve/products.h"
#include "gpu/solve/true_residual.h"

namespace csrkit::gpu {

namespace {

/// T is the kind of the iteration, X that of the solution. Where they differ, iterations in T find
/// corrections to x.
template <class T, class X>
class TypedMachine : public Machine {
 public:
  static constexpr bool kRefines = !std::is_same_v<T, X>;

  TypedMachine(const SolveProblem& problem, const PlanOptions& options, Rung rung,
               DeviceMemory& memory)
      : problem_(problem),
        stream_(memory.stream()),
        rows_(problem.rows()),
        columns_(problem.right_hand_sides),
        residual_matrix_(problem, layout_of(problem, options), memory) {
    if (problem.dense) {
      multiply_dense(options, rung, memory);
    } else if (rung == Rung::persistent) {
      loop_ = make_sparse_loop<T>(problem.a, memory);
    } else if (rung == Rung::streamed) {
      loop_ = make_streamed_loop<T>(problem.a, memory);
    } else {
      // vendor_cusparse does not declare kGraphCapture: it can only be captured once it is bound,
      // which is the case here.
      const bool is_captured =
          rung != Rung::host_scalars && rung != Rung::device_scalars && rung != Rung::vendor_cublas;
      product_ = make_product(problem, options, kValueKindOf<T>, is_captured, memory);
    }
    const Offset size = Offset{rows_} * columns_;
    b_ = DeviceBuffer<X>(memory, size, "b on the device");
    x_ = DeviceBuffer<X>(memory, size, "x on the device");
    wide_ = DeviceBuffer<double>(memory, size, "the residual");
    sums_ = DeviceBuffer<double>(memory, Offset{columns_} * kSquareSums, "sums");
    T* target = nullptr;
    if constexpr (kRefines) {
      correction_ = DeviceBuffer<T>(memory, size, "the correction");
      scales_ = DeviceBuffer<double>(memory, columns_, "scales");
      target = correction_.data();
    } else {
      target = x_.data();
    }
    make_preconditioner(memory, target);
    iterations_ = std::make_unique<DeviceIterations<T>>(
        problem, rung, memory, target, product_.get(), preconditioner_.get(), loop_.get());
  }

  void* b() override { return b_.data(); }
  void* x() override { return x_.data(); }
  std::pair<double, double> spectrum() const override { return spectrum_; }
  std::string product_choice() const override {
    return product_ == nullptr ? "" : product_->choice();
  }

  std::vector<double> start() override {
    const std::vector<double> norms = norms_of(b_.data());
    const std::uint64_t pitch = static_cast<std::uint64_t>(columns_) * sizeof(X);
    for (Index column = 0; column < columns_ && rows_ > 0; ++column) {
      if (problem_.has_guess && norms[static_cast<std::size_t>(column)] != 0) continue;
      CHECK_CUDA(cudaMemset2DAsync(x_.data() + column, pitch, 0, sizeof(X),
                                   static_cast<std::size_t>(rows_), stream_));
    }
    return norms;
  }

  std::vector<double> renew_residual() override {
    residual_matrix_.launch(b_.data(), x_.data(), wide_.data(), stream_);
    const std::vector<double> norms = norms_of(wide_.data());
    if constexpr (kRefines) {
      // Residuals are scaled to length 1, so that their squares stay in the range of T.
      host_scales_ = norms;
      for (double& scale : host_scales_) scale = scale > 0 ? scale : 1;
      CHECK_CUDA(cudaMemcpyAsync(scales_.data(), host_scales_.data(), scales_.size_bytes(),
                                 cudaMemcpyHostToDevice, stream_));
      if (correction_.size() > 0) {
        CHECK_CUDA(cudaMemsetAsync(correction_.data(), 0, correction_.size_bytes(), stream_));
      }
    } else {
      host_scales_.assign(norms.size(), 1);
    }
    launch_narrow(rows_, columns_, wide_.data(), scales_.data(), iterations_->residual(), stream_);
    return norms;
  }

  std::vector<ColumnRun> run(const std::vector<double>& targets, Offset limit,
                             std::vector<double>* history) override {
    std::vector<double> scaled = targets;
    for (std::size_t j = 0; j < scaled.size(); ++j) scaled[j] /= host_scales_[j];
    std::vector<ColumnRun> runs =
        iterations_->run(scaled, host_scales_, limit, problem_.progress, history);
    for (std::size_t j = 0; j < runs.size(); ++j) runs[j].norm *= host_scales_[j];
    if constexpr (kRefines) {
      launch_correct(rows_, columns_, scales_.data(), correction_.data(), x_.data(), stream_);
    }
    return runs;
  }

 private:
  static SquareLayout layout_of(const SolveProblem& problem, const PlanOptions& options) {
    return problem.dense ? parse_dense_product(options, problem.rows()).product->layout
                         : SquareLayout::full;
  }

  /// A product in the kind of A uses the residual's copy of it.
  void multiply_dense(const PlanOptions& options, Rung rung, DeviceMemory& memory) {
    const DenseChoice choice = parse_dense_product(options, rows_);
    const DeviceSquare* square = &residual_matrix_.square();
    if (square->kind() != kValueKindOf<T>) {
      square_ = DeviceSquare(memory, *problem_.dense, kValueKindOf<T>, choice.product->layout);
      square = &square_;
    }
    if (rung == Rung::persistent) {
      loop_ = make_dense_loop<T>(square->view<T>(), memory);
    } else {
      product_ = make_dense_product(*square, choice, columns_, memory);
    }
  }

  template <class V>
  std::vector<double> norms_of(const V* vectors) {
    std::vector<double> norms(static_cast<std::size_t>(columns_));
    launch_squares(rows_, columns_, vectors, sums_.data(), stream_);
    CHECK_CUDA(cudaMemcpyAsync(norms.data(), sums_.data(), norms.size() * sizeof(double),
                               cudaMemcpyDeviceToHost, stream_));
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
  }

  void make_preconditioner(DeviceMemory& memory, T* x) {
    switch (problem_.preconditioner.kind) {
      case PreconditionerKind::none: return;
      case PreconditionerKind::jacobi: preconditioner_ = make_jacobi<T>(problem_, memory); return;
      case PreconditionerKind::block_jacobi:
        preconditioner_ = make_block_jacobi<T>(problem_, memory);
        return;
      case PreconditionerKind::chebyshev: break;
    }
    // The spectrum is estimated by a short run with Jacobi from a random right-hand side, which has
    // a part in every eigenvector.
    const auto jacobi = make_jacobi<T>(problem_, memory);
    DeviceIterations<T> probe(problem_, Rung::device_scalars, memory, x, product_.get(),
                              jacobi.get(), nullptr);
    DenseMatrix random(rows_, columns_, kValueKindOf<T>);
    fill_random(random.view(), 1);
    if (random.size_bytes() > 0) {
      CHECK_CUDA(cudaMemcpyAsync(probe.residual(), random.view().data, random.size_bytes(),
                                 cudaMemcpyHostToDevice, stream_));
      CHECK_CUDA(cudaMemsetAsync(x, 0, random.size_bytes(), stream_));
    }
    CgSteps steps;
    std::vector<double> history;
    const auto columns = static_cast<std::size_t>(columns_);
    probe.run(std::vector<double>(columns, 1e-3), std::vector<double>(columns, 1),
              kSpectrumIterations, {}, &history, &steps);
    spectrum_ = chebyshev_interval(steps, scaled_row_sum_bound(problem_));
    preconditioner_ = make_chebyshev<T>(
        problem_,
        chebyshev_steps(problem_.preconditioner.degree, spectrum_.first, spectrum_.second),
        *product_, memory);
  }

  const SolveProblem& problem_;
  cudaStream_t stream_;
  Index rows_, columns_;
  ResidualMatrix residual_matrix_;
  std::unique_ptr<Operator> product_;
  DeviceBuffer<X> b_, x_;
  DeviceBuffer<double> wide_, sums_, scales_;
  DeviceBuffer<T> correction_;
  DeviceSquare square_;  // A in T, where that is not its own kind
  std::unique_ptr<PersistentLoop<T>> loop_;
  std::pair<double, double> spectrum_{0, 0};
  std::vector<double> host_scales_;
  std::unique_ptr<DevicePreconditioner<T>> preconditioner_;
  std::unique_ptr<DeviceIterations<T>> iterations_;
};

}  // namespace

std::unique_ptr<Machine> make_machine(const SolveProblem& problem, const PlanOptions& options,
                                      Rung rung, DeviceMemory& memory) {
  switch (problem.precision) {
    case Precision::f64:
      return std::make_unique<TypedMachine<double, double>>(problem, options, rung, memory);
    case Precision::f32:
      return std::make_unique<TypedMachine<float, float>>(problem, options, rung, memory);
    case Precision::refined:
      return std::make_unique<TypedMachine<float, double>>(problem, options, rung, memory);
  }
  return nullptr;
}

}  // namespace csrkit::gpu
