#include "gpu/sddmm/plan.h"

#include "core/base/stopwatch.h"
#include "core/contract/takes_stream.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/timing/head_start.h"

namespace csrkit::gpu::sddmm {

namespace {

/// A, without its values if the product does not use them.
CsrMatrix needed_of(const SddmmProblem& problem) {
  const CsrMatrix& a = problem.a;
  if (problem.multiplies_by_a || a.value_kind() == ValueKind::none) return a;
  const auto owner = std::make_shared<const CsrMatrix>(a);
  if (a.space() == MemorySpace::device) {
    return CsrMatrix::on_device(a.rows(), a.cols(), a.nnz(), a.row_offsets(), a.col_indices(),
                                ValueKind::none, nullptr, owner);
  }
  return {a.rows(), a.cols(), a.row_offsets(), a.col_indices(), ValueKind::none, nullptr, owner};
}

/// An operand on the host has a twin on the device. X's and Y's are filled by bind, C's before a
/// multiplication that reads C; fetch_output copies C's back.
class GpuSddmmPlan final : public SddmmPlan, public TakesStream {
 public:
  GpuSddmmPlan(const SddmmProblem& problem, const PlanOptions& options, Capabilities capabilities,
               DeviceFactory make)
      : problem_(problem), device_(options.where.device), capabilities_(capabilities) {
    require_device(device_);  // throws, with the reason, where there is no GPU
    const DeviceScope scope(device_);
    resources_ = std::make_unique<PlanResources>(device_, options);
    kernel_ = make(problem_);
    const CsrMatrix needed = needed_of(problem_);
    const bool is_there = needed.space() == MemorySpace::device;
    if (is_there) require_device_addresses(needed);
    const std::uint64_t a_bytes =
        is_there ? 0 : DeviceCsr::forecast_bytes(needed.rows(), needed.nnz(), needed.value_kind());
    resources_->memory.require(a_bytes + kernel_->workspace_bytes(problem_),
                               "A with the kernel's workspace");
    GpuTimer& timer = resources_->timer;
    const cudaStream_t stream = resources_->stream.get();
    timer.start(stream);
    a_ = DeviceCsr(resources_->memory, needed);
    timer.stop(stream);
    if (!is_there) phases_.upload_a_seconds = timer.seconds();
    const Stopwatch analysing;
    if (a_.nnz() > 0) kernel_->explore(a_.view<void>(), resources_->memory);
    workspace_ = DeviceBuffer<std::byte>(resources_->memory,
                                         static_cast<Offset>(kernel_->workspace_bytes(problem_)),
                                         "the kernel's workspace");
    if (a_.nnz() > 0) kernel_->analyse(a_.view<void>(), workspace_.data(), stream);
    resources_->stream.wait();
    phases_.analysis_seconds = analysing.seconds();
  }

  ~GpuSddmmPlan() override {
    try {  // a failure means that the device is gone, and what the plan held there with it
      const DeviceScope scope(device_);
      resources_->stream.go_back();
      kernel_.reset();
      workspace_ = {};
      a_ = {};
      x_twin_.bytes = {};
      y_twin_.bytes = {};
      c_twin_.bytes = {};
      resources_.reset();
    } catch (const Error&) {
    }
  }
  GpuSddmmPlan(const GpuSddmmPlan&) = delete;
  GpuSddmmPlan& operator=(const GpuSddmmPlan&) = delete;

  const SddmmProblem& problem() const override { return problem_; }
  MemorySpace space() const override { return MemorySpace::device; }

  void bind(ConstDenseView x, ConstDenseView y, ValuesView c) override {
    require_bindable(problem_, capabilities_, x, y, c);
    const DeviceScope scope(device_);
    is_bound_ = false;
    const bool c_on_host = c.space == MemorySpace::host;
    if (!c_on_host && c.size > 0) {
      require_device_address("C", {c.data, c.kind, 1, 1, 1, MemorySpace::device});
    }
    const std::uint64_t x_bytes = twin_bytes("X", x), y_bytes = twin_bytes("Y", y);
    const std::uint64_t c_bytes = c_on_host ? bytes_of(c) : 0;
    const std::uint64_t held =
        x_twin_.bytes.size_bytes() + y_twin_.bytes.size_bytes() + c_twin_.bytes.size_bytes();
    if (x_bytes + y_bytes + c_bytes > held) {
      resources_->memory.require(x_bytes + y_bytes + c_bytes - held,
                                 "holding X, Y and C on the device");
    }
    if (x_bytes + y_bytes + c_bytes > 0) resources_->stream.go_back();
    const cudaStream_t stream = resources_->stream.get();
    const bool uploads = x_bytes + y_bytes > 0;
    if (uploads) resources_->timer.start(stream);
    call_.x = brought(x, x_bytes, x_twin_, "X on the device");
    call_.y = brought(y, y_bytes, y_twin_, "Y on the device");
    if (uploads) {
      resources_->timer.stop(stream);
      phases_.upload_b_seconds = resources_->timer.seconds();
    }
    c_twin_.make(resources_->memory, c_bytes, "C on the device");
    host_c_ = c;
    call_.c = c;
    if (c_on_host) call_.c = {c_twin_.bytes.data(), c.kind, c.size, MemorySpace::device};
    c_twin_is_current_ = false;
    if (a_.nnz() > 0) kernel_->prepare(a_.view<void>(), call_, resources_->memory);
    is_bound_ = true;
  }

  void multiply(double alpha, double beta) override {
    const DeviceScope scope(device_);
    prepare_output(alpha, beta);
    launch();
  }

  void use_stream(void* stream) override {
    const DeviceScope scope(device_);
    resources_->stream.go_to(static_cast<cudaStream_t>(stream));
  }

  void wait() override {
    const DeviceScope scope(device_);
    resources_->stream.wait();
  }

  double time_multiply(double alpha, double beta) override {
    const DeviceScope scope(device_);
    prepare_output(alpha, beta);
    const cudaStream_t stream = resources_->stream.get();
    give_head_start(stream);
    resources_->timer.start(stream);
    launch();
    resources_->timer.stop(stream);
    const double seconds = resources_->timer.seconds();
    resources_->stream.wait();
    return seconds;
  }

  void evict_caches() override {
    const DeviceScope scope(device_);
    resources_->evict_caches();
  }

  void fetch_output() override {
    const DeviceScope scope(device_);
    if (is_bound_ && c_twin_is_current_) {
      const cudaStream_t stream = resources_->stream.get();
      resources_->timer.start(stream);
      copy_values(host_c_.data, call_.c.data, cudaMemcpyDeviceToHost);
      resources_->timer.stop(stream);
      phases_.download_seconds = resources_->timer.seconds();
      c_twin_is_current_ = false;  // the host's C is now the current one
    }
    resources_->stream.wait();
  }

  Phases phases() const override {
    Phases phases = phases_;
    phases.peak_bytes = resources_->memory.peak_bytes();
    return phases;
  }

  std::string choice() const override { return kernel_->choice(); }
  std::string chosen_kernel() const override { return kernel_->chosen_kernel(); }

 private:
  static std::uint64_t bytes_of(const ValuesView& values) {
    return static_cast<std::uint64_t>(values.size) *
           static_cast<std::uint64_t>(size_of(values.kind));
  }

  /// Bytes of the twin that an operand needs. For one on the device 0, and its address is checked.
  static std::uint64_t twin_bytes(const char* name, const ConstDenseView& view) {
    if (view.space == MemorySpace::host) return dense_bytes(view.rows, view.cols, view.kind);
    require_device_address(name, view);
    return 0;
  }

  ConstDenseView brought(const ConstDenseView& view, std::uint64_t bytes, DenseTwin& twin,
                         const char* what) {
    twin.make(resources_->memory, bytes, what);
    if (view.space == MemorySpace::device) return view;
    const DenseView copy = twin.view(view);
    copy_dense(copy, view, resources_->stream.get());
    return copy;
  }

  void copy_values(void* to, const void* from, cudaMemcpyKind direction) {
    if (host_c_.size == 0) return;
    CHECK_CUDA(cudaMemcpyAsync(to, from, bytes_of(host_c_), direction, resources_->stream.get()));
  }

  void prepare_output(double alpha, double beta) {
    require_multipliable(Semiring::plus_times, capabilities_, problem_.accumulate, alpha, beta);
    if (!is_bound_) throw UsageError("multiply without operands: bind X, Y and C first");
    const bool c_on_host = host_c_.space == MemorySpace::host;
    if (c_on_host && beta != 0 && !c_twin_is_current_) {
      copy_values(call_.c.data, host_c_.data, cudaMemcpyHostToDevice);
    }
    c_twin_is_current_ = c_on_host;
    call_.alpha = alpha;
    call_.beta = beta;
  }

  void launch() {
    if (a_.nnz() == 0) return;  // a grid of no blocks is an error
    kernel_->launch(a_.view<void>(), call_, workspace_.data(), resources_->stream.get());
  }

  SddmmProblem problem_;
  int device_;
  Capabilities capabilities_;
  Phases phases_;
  std::unique_ptr<PlanResources> resources_;
  std::unique_ptr<DeviceSddmm> kernel_;
  DeviceCsr a_;
  DeviceBuffer<std::byte> workspace_;
  DenseTwin x_twin_, y_twin_, c_twin_;
  bool is_bound_ = false;
  bool c_twin_is_current_ = false;  // holds what C is meant to hold
  ValuesView host_c_;               // where fetch_output copies C, if that is on the host
  DeviceCall call_{};
};

}  // namespace

std::unique_ptr<SddmmPlan> make_plan(const SddmmProblem& problem, const PlanOptions& options,
                                     Capabilities capabilities, DeviceFactory make) {
  return std::make_unique<GpuSddmmPlan>(problem, options, capabilities, make);
}

}  // namespace csrkit::gpu::sddmm
