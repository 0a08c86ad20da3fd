#include "gpu/spgemm/plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/counted.h"
#include "core/base/stopwatch.h"
#include "core/facts/matrix_stats.h"
#include "gpu/device/device_info.h"
#include "gpu/device/staged_copies.h"
#include "gpu/spgemm/filter_product.h"
#include "gpu/spgemm/forecast.h"
#include "gpu/spgemm/plan_state.h"

namespace csrkit::gpu {

GpuSpgemmPlan::GpuSpgemmPlan(const char* name, Capabilities capabilities,
                             const SpgemmProblem& problem, const PlanOptions& options,
                             std::unique_ptr<DeviceSpgemm> kernel)
    : name_(name),
      problem_(problem),
      capabilities_(capabilities),
      device_(options.where.device),
      threads_(options.where.threads),
      shares_b_(shares_operand(problem)),
      kernel_(std::move(kernel)) {
  require_device(device_);  // throws, with the reason, where there is no GPU
  const DeviceScope scope(device_);
  state_ = std::make_unique<State>(device_, options);
  State& state = *state_;

  const Stopwatch operands_clock;
  const CsrMatrix a = widened(problem.a, threads_);
  const CsrMatrix b = shares_b_ ? CsrMatrix() : second_operand(problem, threads_);
  const CsrMatrix mask =
      problem.mask ? convert_values(*problem.mask, ValueKind::none, threads_) : CsrMatrix();
  plan_analysis_seconds_ = operands_clock.seconds();

  state.memory.require(device_operand_bytes(problem),
                       "A (" + counted(a.nnz(), "nonzero") + ")" +
                           (shares_b_ ? "" : ", B (" + counted(b.nnz(), "nonzero") + ")") +
                           (problem.mask ? " and the mask" : ""));
  const UploadTeam team(threads_);
  state.timer.start(state.stream.get());
  state.a = DeviceCsr(state.memory, a);
  if (!shares_b_) state.b = DeviceCsr(state.memory, b);
  if (problem.mask) state.mask = DeviceCsr(state.memory, mask);
  state.timer.stop(state.stream.get());
  phases_.upload_seconds = state.timer.seconds();

  const Stopwatch ranges_clock;
  make_ranges(shares_b_ ? a : b);
  if (ranges_.size() == 1 && ranges_[0].sizes.counts.products > 0) {
    kernel_->prepare(operands_of(ranges_[0]), state.memory);
  }
  if (ranges_.size() > 1) {
    std::vector<SpgemmOperands> all;
    for (const RowRange& range : ranges_) all.push_back(operands_of(range));
    kernel_->look_at_ranges(all, state.memory);
  }
  state.stream.wait();
  plan_analysis_seconds_ += ranges_clock.seconds();
  phases_.analysis_seconds = plan_analysis_seconds_;
}

GpuSpgemmPlan::~GpuSpgemmPlan() {
  try {
    const DeviceScope scope(device_);
    kernel_.reset();
    state_.reset();
  } catch (const Error&) {
    // The device is gone, and what the plan held there with it.
  }
}

std::uint64_t GpuSpgemmPlan::forecast_of(const SpgemmSizes& sizes) const {
  return product_forecast_bytes(*kernel_, problem_, sizes);
}

void GpuSpgemmPlan::make_ranges(const CsrMatrix& op_b) {
  State& state = *state_;
  const DeviceCsrView<void> a = state.a.view<void>();
  const DeviceCsrView<void> b = shares_b_ ? a : state.b.view<void>();
  const std::uint64_t operands = state.memory.used_bytes();
  SpgemmSizes whole = {a.rows, a.cols, b.cols, a.nnz, b.nnz, {}};
  whole.counts = count_products(a, b, state.memory);
  ranges_ = {{0, a.rows, whole}};

  forecast_ = forecast_whole(*kernel_, problem_, whole, operands);
  const std::uint64_t needed = forecast_of(whole);
  const std::uint64_t available = state.memory.available_bytes();
  if (needed <= available) return;
  if ((capabilities_ & kRowBlocks) == 0) {
    state.memory.require(needed, std::string("C with the workspace of ") + name_);
  }
  std::vector<Offset> products(static_cast<std::size_t>(a.rows));
  // On the host: the device is short of memory.
  spgemm_products(problem_.a, op_b, products.data(), threads_);
  ranges_ = cut_rows(whole, problem_.a.row_offsets(), products, available,
                     [this](const SpgemmSizes& sizes) { return forecast_of(sizes); });
  forecast_.peak_bytes = 0;
  for (const RowRange& range : ranges_) {
    forecast_.peak_bytes = std::max(forecast_.peak_bytes, operands + forecast_of(range.sizes));
  }
}

void GpuSpgemmPlan::expect_new_values() {
  if (!can_reuse() || expects_values_) return;
  const DeviceScope scope(device_);
  expects_values_ = true;
  drop_structure();
  const SpgemmSizes& whole = ranges_[0].sizes;
  const std::uint64_t operands = state_->memory.used_bytes();
  const std::uint64_t more = kernel_->values_bytes(whole);
  const std::uint64_t with_more = more +
                                  csr_bytes(whole.rows, whole.counts.output_bound, problem_.c) +
                                  filter_forecast_bytes(problem_, whole);
  const bool may_spend = more > 0 && with_more <= state_->memory.available_bytes();
  forecast_.reuse_bytes = operands + std::max(forecast_of(whole), may_spend ? with_more : 0);
  kernel_->let_values_spend(may_spend);
}

}  // namespace csrkit::gpu
