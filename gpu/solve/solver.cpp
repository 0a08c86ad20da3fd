#include "gpu/solve/solver.h"

#include <tuple>

#include "core/base/stopwatch.h"
#include "gpu/device/device_info.h"
#include "gpu/device/grid.h"
#include "gpu/plan/operands.h"
#include "gpu/plan/resources.h"
#include "gpu/solve/machine.h"

namespace csrkit::gpu {

namespace {

class GpuSolver : public Solver {
 public:
  GpuSolver(const SolveProblem& problem, const PlanOptions& options, Capabilities capabilities,
            Rung rung, const char* chosen, const std::string& because)
      : problem_(problem),
        capabilities_(capabilities),
        device_(options.where.device),
        chosen_(chosen),
        because_(because) {
    // Kernels have a row of blocks for each right-hand side.
    if (problem.right_hand_sides > kMaxGridY) {
      throw UsageError("solvers on GPUs take at most " + std::to_string(kMaxGridY) +
                       " right-hand sides, and there are " +
                       std::to_string(problem.right_hand_sides) + "; solve for some at a time");
    }
    require_device(device_);
    const DeviceScope scope(device_);
    resources_ = std::make_unique<PlanResources>(device_, options);
    const Stopwatch clock;
    machine_ = make_machine(problem_, options, rung, resources_->memory);
    resources_->stream.wait();
    phases_.analysis_seconds = clock.seconds();
  }

  ~GpuSolver() override {
    try {
      const DeviceScope scope(device_);
      machine_.reset();
      resources_.reset();
    } catch (const Error&) {
      // The device is gone, and what the plan held there with it.
    }
  }

  OperatorShape shape() const override { return shape_of(problem_, MemorySpace::device); }

  void bind(ConstDenseView b, DenseView x) override {
    require_bindable(shape(), capabilities_, b, x);
    const DeviceScope scope(device_);
    if (b.space == MemorySpace::device) require_device_address("B", b);
    if (x.space == MemorySpace::device) require_device_address("X", x);
    b_ = b;
    x_ = x;
    is_bound_ = true;
  }

  void multiply(double alpha, double beta) override { time_multiply(alpha, beta); }

  double time_multiply(double alpha, double beta) override {
    require_multipliable(Semiring::plus_times, capabilities_, ValueKind::f64, alpha, beta);
    if (!is_bound_) throw UsageError("multiply needs operands: call bind first");
    const DeviceScope scope(device_);
    const Stopwatch uploading;
    const cudaStream_t stream = resources_->stream.get();
    copy_dense(twin(machine_->b()), b_, stream);
    if (problem_.has_guess) copy_dense(twin(machine_->x()), x_, stream);
    resources_->stream.wait();
    phases_.upload_b_seconds = uploading.seconds();

    // By the host's clock: the host's part counts, as the rungs differ in it.
    const Stopwatch clock;
    report_ = drive_cg(*machine_, problem_, problem_.precision == Precision::refined);
    resources_->stream.wait();
    report_.seconds = clock.seconds();
    std::tie(report_.lowest_eigenvalue, report_.highest_eigenvalue) = machine_->spectrum();

    const Stopwatch downloading;
    copy_dense(x_, twin(machine_->x()), stream);
    resources_->stream.wait();
    phases_.download_seconds = downloading.seconds();
    return report_.seconds;
  }

  const SolveReport& report() override { return report_; }

  void wait() override {
    const DeviceScope scope(device_);
    resources_->stream.wait();
  }
  void evict_caches() override {
    const DeviceScope scope(device_);
    resources_->evict_caches();
  }
  std::string choice() const override {
    const std::string product = machine_->product_choice();
    return because_ + (because_.empty() || product.empty() ? "" : "; ") +
           (product.empty() ? "" : "products: " + product);
  }
  std::string chosen_kernel() const override { return chosen_; }
  Phases phases() const override {
    Phases phases = phases_;
    phases.peak_bytes = resources_->memory.peak_bytes();
    return phases;
  }

 private:
  DenseView twin(void* data) const {
    return {data,
            problem_.vector_kind(),
            problem_.rows(),
            problem_.right_hand_sides,
            problem_.right_hand_sides,
            MemorySpace::device};
  }

  SolveProblem problem_;
  Capabilities capabilities_;
  int device_;
  std::string chosen_, because_;
  std::unique_ptr<PlanResources> resources_;
  std::unique_ptr<Machine> machine_;
  Phases phases_;
  SolveReport report_;
  bool is_bound_ = false;
  ConstDenseView b_;
  DenseView x_;
};

}  // namespace

std::unique_ptr<Solver> make_solver(const SolveProblem& problem, const PlanOptions& options,
                                    Capabilities capabilities, Rung rung, const char* chosen,
                                    const std::string& because) {
  return std::make_unique<GpuSolver>(problem, options, capabilities, rung, chosen, because);
}

}  // namespace csrkit::gpu
