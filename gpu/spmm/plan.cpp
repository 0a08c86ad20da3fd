#include "gpu/spmm/plan.h"

#include <utility>

#include "core/base/counted.h"
#include "core/base/stopwatch.h"
#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

GpuSpmmPlan::GpuSpmmPlan(Capabilities capabilities, const SpmmProblem& problem,
                         const PlanOptions& options, std::unique_ptr<DeviceSpmm> kernel)
    : OperatorPlan(capabilities, problem, options), kernel_(std::move(kernel)) {
  const DeviceScope scope(device_);
  const bool transposes = problem.transpose_a && !kernel_->transposes();
  sizes_ = {problem.a.rows(), problem.a.cols(), problem.a.nnz(), problem.dense_cols};
  if (transposes) std::swap(sizes_.rows, sizes_.cols);
  const std::uint64_t workspace_bytes = kernel_->workspace_bytes(sizes_);
  analysis_bytes_ = kernel_->analysis_bytes(sizes_);
  if (options.saved != nullptr && options.saved->size() != analysis_bytes_) {
    throw UsageError("the saved analysis has " + counted(options.saved->size(), "byte") +
                     "; this kernel's for this problem has " + std::to_string(analysis_bytes_));
  }
  a_ = bring_matrix(transposes, workspace_bytes, options.where.threads);

  const Stopwatch analysing;
  const cudaStream_t stream = resources().stream.get();
  workspace_ = DeviceBuffer<std::byte>(resources().memory, static_cast<Offset>(workspace_bytes),
                                       "the kernel's workspace");
  if (options.saved != nullptr && analysis_bytes_ > 0) {
    kernel_->adopt(sizes_, workspace_.data());
    CHECK_CUDA(cudaMemcpyAsync(workspace_.data(), options.saved->data(), analysis_bytes_,
                               cudaMemcpyHostToDevice, stream));
  } else {
    kernel_->analyse(a_.view<void>(), sizes_, workspace_.data(), stream);
  }
  kernel_->finish_analysis(workspace_.data(), stream);
  resources().stream.wait();
  phases_.analysis_seconds += analysing.seconds();
}

GpuSpmmPlan::~GpuSpmmPlan() {
  on_device_without_errors([&] {
    kernel_.reset();
    workspace_ = {};
    a_ = {};
  });
}

void GpuSpmmPlan::launch(const ConstDenseView& b, const DenseView& c, double alpha, double beta) {
  kernel_->launch(a(), b, c, alpha, beta, workspace_.data(), resources().stream.get());
}

DeviceCsrView<void> GpuSpmmPlan::a() const {
  DeviceCsrView<void> view = a_.view<void>();
  if (other_values_ != nullptr) view.values = other_values_;
  return view;
}

// Kernels copy values in their analysis, at least those of short rows. So it is done again.
bool GpuSpmmPlan::take_values(const void* values) {
  const cudaStream_t stream = resources().stream.get();
  other_values_ = values;
  kernel_->analyse(a(), sizes_, workspace_.data(), stream);
  kernel_->finish_analysis(workspace_.data(), stream);
  return true;
}

bool GpuSpmmPlan::wants_trials(const ConstDenseView& b, const DenseView& c) const {
  return kernel_->wants_trials(b, c);
}

void GpuSpmmPlan::run_trials(const ConstDenseView& b, const DenseView& scratch) {
  kernel_->run_trials(a(), b, scratch, resources().memory);
}

SavedAnalysis GpuSpmmPlan::save_analysis() {
  if (other_values_ != nullptr && analysis_bytes_ > 0) {
    throw UsageError("the plan has other values than its matrix; save it before it takes them");
  }
  const DeviceScope scope(device_);
  SavedAnalysis bytes(analysis_bytes_);
  if (bytes.empty()) return bytes;
  CHECK_CUDA(cudaMemcpyAsync(bytes.data(), workspace_.data(), bytes.size(), cudaMemcpyDeviceToHost,
                             resources().stream.get()));
  resources().stream.wait();
  return bytes;
}

}  // namespace csrkit::gpu
