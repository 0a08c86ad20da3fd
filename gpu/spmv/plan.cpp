#include "gpu/spmv/plan.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "core/base/stopwatch.h"
#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

GpuSpmvPlan::GpuSpmvPlan(Capabilities capabilities, const SpmmProblem& problem,
                         const PlanOptions& options, std::unique_ptr<DeviceSpmv> kernel)
    : OperatorPlan(capabilities, problem, options), kernel_(std::move(kernel)) {
  const DeviceScope scope(device_);
  const bool transposes = problem.transpose_a && !kernel_->transposes();
  DeviceCsr a = bring_matrix(transposes, 0, options.where.threads);
  csr_bytes_ = csr_bytes_of(a);
  const Stopwatch converting;
  kernel_->convert(std::move(a), resources().memory);
  resources().stream.wait();
  conversion_seconds_ = converting.seconds();
  phases_.analysis_seconds += conversion_seconds_;
}

GpuSpmvPlan::~GpuSpmvPlan() {
  on_device_without_errors([&] { kernel_.reset(); });
}

void GpuSpmvPlan::launch(const ConstDenseView& x, const DenseView& y, double alpha, double beta) {
  kernel_->launch(x, y, alpha, beta, resources().stream.get());
}

bool GpuSpmvPlan::wants_trials(const ConstDenseView& x, const DenseView& y) const {
  return kernel_->wants_trials(x, y);
}

void GpuSpmvPlan::run_trials(const ConstDenseView& x, const DenseView& scratch) {
  kernel_->run_trials(x, scratch, resources().memory);
}

std::string GpuSpmvPlan::choice_of_kernel() const {
  constexpr double kCopyBytesPerSecond = 4.3e12;  // of an H200: to say when a conversion has paid
  const std::string inner = kernel_->choice();
  if (problem_.a.nnz() == 0) return inner;
  const auto stored = static_cast<double>(kernel_->stored_bytes());
  const double saved_seconds = (static_cast<double>(csr_bytes_) - stored) / kCopyBytesPerSecond;
  char text[160];
  const int length =
      std::snprintf(text, sizeof text, "%.2f bytes a nonzero, converted in %.0f us",
                    stored / static_cast<double>(problem_.a.nnz()), conversion_seconds_ * 1e6);
  if (saved_seconds > 0) {
    std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length),
                  ", which %.0f products pay by the bytes they save",
                  std::ceil(conversion_seconds_ / saved_seconds));
  }
  return inner.empty() ? text : text + (", " + inner);
}

}  // namespace csrkit::gpu
