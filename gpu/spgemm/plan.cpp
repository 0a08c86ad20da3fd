#include "gpu/spgemm/plan.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/gpu_timer.h"
#include "gpu/device/head_start.h"
#include "gpu/device/l2_flush.h"
#include "gpu/device/stream.h"
#include "gpu/spgemm/filter_product.h"
#include "gpu/spgemm/phase_events.h"
#include "gpu/spgemm/registry.h"

namespace csrkit::gpu {

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Kernels know float, double and no values at all. The detour is exact, and sums of 16-bit values are
// f32 by contract.
CsrMatrix widened(const CsrMatrix& matrix) {
  const ValueKind kind = matrix.value_kind();
  const bool is_narrow = kind == ValueKind::f16 || kind == ValueKind::bf16;
  return is_narrow ? convert_values(matrix, ValueKind::f32) : matrix;
}

CsrMatrix second_operand(const SpgemmProblem& problem) {
  return widened(problem.transpose_b ? transpose(problem.b) : problem.b);
}

std::uint64_t device_bytes(const CsrMatrix& matrix) {
  return DeviceCsr::forecast_bytes(matrix.rows(), matrix.nnz(), matrix.value_kind());
}

// Rows of a matrix whose offsets are also on the host; its values have the size of `kind`.
DeviceCsrView<void> rows_of(const DeviceCsrView<void>& matrix, const RowRange& range,
                            const Offset* row_offsets, ValueKind kind) {
  const Offset begin = row_offsets[range.first], end = row_offsets[range.last];
  if (kind == ValueKind::f64) {
    return matrix.as<double>().range(range.first, range.last, begin, end).as<void>();
  }
  return matrix.as<float>().range(range.first, range.last, begin, end).as<void>();
}

}  // namespace

struct GpuSpgemmPlan::State {
  State(int device, const PlanOptions& options)
      : stream(static_cast<cudaStream_t>(options.where.stream)),
        memory(device, stream.get(), options.memory_limit_bytes) {}

  Stream stream;
  DeviceMemory memory;
  GpuTimer timer;
  PhaseEvents events;
  DeviceCsr a, b, mask;  // b stays empty where B is A
  std::unique_ptr<L2Flush> flush;

  // For reuse: C before masks and dropping, of all rows.
  DeviceProduct structure;
  bool has_structure = false;
  bool values_prepared = false;  // the kernel knows the structure
  bool values_are_new = false;   // A's and B's values changed since C was made
};

GpuSpgemmPlan::GpuSpgemmPlan(const char* name, const SpgemmProblem& problem,
                             const PlanOptions& options, std::unique_ptr<DeviceSpgemm> kernel)
    : name_(name),
      problem_(problem),
      capabilities_(find_kernel(spgemm_kernels(), name).capabilities),
      device_(options.where.device),
      shares_b_(problem.b_is_a() && !problem.transpose_b),
      kernel_(std::move(kernel)) {
  require_device(device_);  // throws, with the reason, where there is no GPU
  const DeviceScope scope(device_);
  state_ = std::make_unique<State>(device_, options);
  State& state = *state_;

  auto begin = std::chrono::steady_clock::now();
  const CsrMatrix a = widened(problem.a);
  const CsrMatrix b = shares_b_ ? CsrMatrix() : second_operand(problem);
  const CsrMatrix mask =
      problem.mask ? convert_values(*problem.mask, ValueKind::none) : CsrMatrix();
  plan_analysis_seconds_ = seconds_since(begin);

  state.memory.require(
      device_bytes(a) + (shares_b_ ? 0 : device_bytes(b)) + (problem.mask ? device_bytes(mask) : 0),
      "A (" + std::to_string(a.nnz()) + " nonzeros)" +
          (shares_b_ ? "" : ", B (" + std::to_string(b.nnz()) + " nonzeros)") +
          (problem.mask ? " and the mask" : ""));
  state.timer.start(state.stream.get());
  state.a = DeviceCsr(state.memory, a);
  if (!shares_b_) state.b = DeviceCsr(state.memory, b);
  if (problem.mask) state.mask = DeviceCsr(state.memory, mask);
  state.timer.stop(state.stream.get());
  phases_.upload_seconds = state.timer.seconds();

  begin = std::chrono::steady_clock::now();
  make_ranges();
  if (ranges_.size() == 1 && ranges_[0].sizes.counts.products > 0) {
    kernel_->prepare(operands_of(ranges_[0]), state.memory);
  }
  state.stream.wait();
  plan_analysis_seconds_ += seconds_since(begin);
  phases_.analysis_seconds = plan_analysis_seconds_;
  phases_.peak_bytes = state.memory.peak_bytes();
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
  const std::uint64_t product = kernel_->forecast_bytes(sizes);
  return is_filtered() ? product + filter_forecast_bytes(sizes, problem_.c) : product;
}

void GpuSpgemmPlan::make_ranges() {
  State& state = *state_;
  const DeviceCsrView<void> a = state.a.view<void>();
  const DeviceCsrView<void> b = shares_b_ ? a : state.b.view<void>();
  const std::uint64_t operands = state.memory.used_bytes();
  SpgemmSizes whole = {a.rows, a.cols, b.cols, a.nnz, b.nnz, {}};
  whole.counts = count_products(a, b, state.memory);
  ranges_ = {{0, a.rows, whole}};

  Offset bound = whole.counts.output_bound;
  if (problem_.mask) bound = std::min(bound, problem_.mask->nnz());
  forecast_.products = static_cast<double>(whole.counts.products);
  forecast_.output_nnz_bound = bound;
  forecast_.output_bytes_bound = csr_bytes(a.rows, bound, problem_.c);
  const std::uint64_t needed = forecast_of(whole);
  forecast_.whole_bytes = forecast_.peak_bytes = operands + needed;
  const std::uint64_t available = state.memory.available_bytes();
  if (needed <= available) return;
  if ((capabilities_ & kRowBlocks) == 0) {
    state.memory.require(needed, std::string("C with the workspace of ") + name_);
  }
  std::vector<Offset> products(static_cast<std::size_t>(a.rows));
  {
    const DeviceBuffer<Offset> of_rows(state.memory, a.rows, "the products of every row");
    count_products(a, b, state.memory, of_rows.data());
    CHECK_CUDA(cudaMemcpyAsync(products.data(), of_rows.data(), of_rows.size_bytes(),
                               cudaMemcpyDeviceToHost, state.stream.get()));
    state.stream.wait();
  }
  ranges_ = cut_rows(whole, problem_.a.row_offsets(), products, available,
                     [this](const SpgemmSizes& sizes) { return forecast_of(sizes); });
  forecast_.peak_bytes = 0;
  for (const RowRange& range : ranges_) {
    forecast_.peak_bytes = std::max(forecast_.peak_bytes, operands + forecast_of(range.sizes));
  }
}

SpgemmOperands GpuSpgemmPlan::operands_of(const RowRange& range) const {
  const DeviceCsrView<void> a = state_->a.view<void>();
  const DeviceCsrView<void> b = shares_b_ ? a : state_->b.view<void>();
  if (range.first == 0 && range.last == a.rows) return {a, b, problem_.alpha};
  return {rows_of(a, range, problem_.a.row_offsets(), problem_.c), b, problem_.alpha};
}

DeviceProduct GpuSpgemmPlan::empty_product(const RowRange& range) const {
  DeviceProduct c;
  c.rows = range.last - range.first;
  c.cols = problem_.output_cols();
  c.kind = problem_.c;
  return c;
}

const DeviceProduct& GpuSpgemmPlan::run(const RowRange& range, DeviceProduct& c,
                                        PhaseMarks* marks) {
  State& state = *state_;
  kernel_->multiply(operands_of(range), state.memory, c, marks);
  state.values_are_new = false;
  if (!can_reuse()) return c;
  state.structure = std::move(c);
  state.has_structure = true;
  return state.structure;
}

const DeviceProduct& GpuSpgemmPlan::filter(const RowRange& range, const DeviceProduct& c,
                                           DeviceProduct& kept) {
  if (!is_filtered()) return c;
  DeviceCsrView<void> mask = state_->mask.view<void>();
  if (problem_.mask) {
    mask = rows_of(mask, range, problem_.mask->row_offsets(), ValueKind::none);
  }
  kept = filtered_product(c, problem_.mask ? &mask : nullptr, problem_.drop_below, state_->memory);
  return kept;
}

void GpuSpgemmPlan::drop_structure() {
  state_->structure = {};
  state_->has_structure = state_->values_prepared = false;
}

void GpuSpgemmPlan::renew_values() {
  State& state = *state_;
  const SpgemmOperands operands = operands_of(ranges_[0]);
  if (!state.values_prepared) kernel_->prepare_values(operands, state.memory, state.structure);
  state.values_prepared = true;
  kernel_->multiply_values(operands, state.memory, state.structure);
  state.values_are_new = false;
}

void GpuSpgemmPlan::multiply(CsrSink& sink) {
  const DeviceScope scope(device_);
  State& state = *state_;
  const bool reuses = state.values_are_new && state.has_structure;
  if (!reuses) drop_structure();
  state.memory.reset_peak();
  const double upload_seconds = phases_.upload_seconds;
  phases_ = {};
  phases_.upload_seconds = upload_seconds;
  phases_.row_blocks = static_cast<Index>(ranges_.size());
  for (const RowRange& range : ranges_) {
    DeviceProduct c = empty_product(range), kept;
    const DeviceProduct* made = &state.structure;
    state.events.start(state.stream.get());
    if (reuses) {
      renew_values();
    } else {
      made = &run(range, c, &state.events);
    }
    state.events.begin(SpgemmPhase::numeric);
    made = &filter(range, *made, kept);
    state.events.stop();
    state.events.add_to(phases_);
    const auto begin = std::chrono::steady_clock::now();
    const CsrMatrix block = download(*made, state.stream.get());
    phases_.output_nnz += block.nnz();
    sink.append_rows(block);
    phases_.output_seconds += seconds_since(begin);
  }
  phases_.analysis_seconds += plan_analysis_seconds_;
  phases_.peak_bytes = state.memory.peak_bytes();
  forecast_.output_nnz_bound = phases_.output_nnz;
  forecast_.output_bytes_bound = csr_bytes(problem_.output_rows(), phases_.output_nnz, problem_.c);
}

void GpuSpgemmPlan::require_reuse() const {
  if (!kernel_->can_reuse()) {
    throw UsageError(std::string(name_) +
                     " does not reuse the structure of C; --list shows which "
                     "kernels do");
  }
}

void GpuSpgemmPlan::set_values(const CsrMatrix& a, const CsrMatrix& b) {
  require_reuse();
  require_same_structure(problem_, a, b);
  const DeviceScope scope(device_);
  State& state = *state_;
  const bool b_is_a = problem_.b_is_a();
  problem_.a = a;
  problem_.b = b_is_a ? a : b;
  const CsrMatrix new_a = widened(problem_.a);
  const CsrMatrix new_b = shares_b_ ? CsrMatrix() : second_operand(problem_);
  state.timer.start(state.stream.get());
  state.a.set_values(new_a, state.stream.get());
  if (!shares_b_) state.b.set_values(new_b, state.stream.get());
  state.timer.stop(state.stream.get());
  phases_.upload_seconds = state.timer.seconds();
  state.stream.wait();
  state.values_are_new = true;
}

double GpuSpgemmPlan::time_multiply() {
  const DeviceScope scope(device_);
  State& state = *state_;
  drop_structure();
  double seconds = 0;
  for (const RowRange& range : ranges_) {
    DeviceProduct c = empty_product(range), kept;
    state.stream.wait();
    state.timer.start(state.stream.get());
    kernel_->multiply(operands_of(range), state.memory, c, nullptr);
    filter(range, c, kept);
    state.timer.stop(state.stream.get());
    seconds += state.timer.seconds();
  }
  return seconds;
}

double GpuSpgemmPlan::time_numeric() {
  require_reuse();
  const DeviceScope scope(device_);
  State& state = *state_;
  if (!can_reuse()) {
    throw UsageError(
        "C is made in blocks of rows, so its structure is not kept; raise the memory "
        "limit");
  }
  if (!state.has_structure) {
    DeviceProduct c = empty_product(ranges_[0]);
    run(ranges_[0], c, nullptr);
  }
  if (!state.values_prepared) renew_values();
  state.stream.wait();
  give_head_start(state.stream.get());
  state.timer.start(state.stream.get());
  renew_values();
  state.timer.stop(state.stream.get());
  return state.timer.seconds();
}

void GpuSpgemmPlan::evict_caches() {
  const DeviceScope scope(device_);
  if (!state_->flush) state_->flush = std::make_unique<L2Flush>(device_, state_->stream.get());
  state_->flush->run();
}

std::string GpuSpgemmPlan::choice() const {
  const std::string inner = kernel_->choice();
  std::string text = chosen_;
  if (!inner.empty()) text += (text.empty() ? "" : ", ") + inner;
  if (ranges_.size() > 1) {
    text += (text.empty() ? "" : ", ") + std::to_string(ranges_.size()) + " blocks of rows";
  }
  return text;
}

}  // namespace csrkit::gpu
