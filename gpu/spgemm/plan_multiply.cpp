// The multiplications of a plan: whole or in ranges of rows, with old or new values, into a sink or
// timed.
#include <algorithm>
#include <string>
#include <utility>

#include "core/base/counted.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/staged_copies.h"
#include "gpu/device/timing/head_start.h"
#include "gpu/spgemm/filter_product.h"
#include "gpu/spgemm/plan.h"
#include "gpu/spgemm/plan_state.h"

namespace csrkit::gpu {

namespace {

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
  if (!is_filtered(problem_)) return c;
  DeviceCsrView<void> mask = state_->mask.view<void>();
  if (problem_.mask) {
    mask = rows_of(mask, range, problem_.mask->row_offsets(), ValueKind::none);
  }
  kept = filtered_product(c, problem_.mask ? &mask : nullptr, problem_.drop_below, state_->memory);
  return kept;
}

/// Adds the memory's peak to that of products or of new values, and starts a new peak.
void GpuSpgemmPlan::note_peak() {
  State& state = *state_;
  std::uint64_t& peak = state.values_prepared ? state.reuse_peak_bytes : state.product_peak_bytes;
  peak = std::max(peak, state.memory.peak_bytes());
  state.memory.reset_peak();
}

void GpuSpgemmPlan::drop_structure() {
  State& state = *state_;
  note_peak();
  kernel_->forget_values();
  state.structure = {};
  state.has_structure = state.values_prepared = false;
  state.memory.reset_peak();
}

void GpuSpgemmPlan::renew_values() {
  State& state = *state_;
  const SpgemmOperands operands = operands_of(ranges_[0]);
  if (!state.values_prepared) {
    note_peak();
    state.values_prepared = true;
    state.stream.wait();
    const Stopwatch clock;
    kernel_->prepare_values(operands, state.memory, state.structure);
    state.stream.wait();
    state.structure_seconds = clock.seconds();
  }
  kernel_->multiply_values(operands, state.memory, state.structure);
  state.values_are_new = false;
}

void GpuSpgemmPlan::multiply(CsrSink& sink) {
  const DeviceScope scope(device_);
  State& state = *state_;
  const bool reuses = state.values_are_new && state.has_structure;
  if (!reuses) {
    drop_structure();
    state.product_peak_bytes = 0;
  }
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
    const Stopwatch clock;
    const CsrMatrix block = download(*made, threads_, state.stream.get());
    phases_.output_nnz += block.nnz();
    sink.append_rows(block);
    phases_.output_seconds += clock.seconds();
  }
  phases_.analysis_seconds += plan_analysis_seconds_;
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
  const CsrMatrix new_a = widened(problem_.a, threads_);
  const CsrMatrix new_b = shares_b_ ? CsrMatrix() : second_operand(problem_, threads_);
  const UploadTeam team(threads_);
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
  state_->evict_caches();
}

SpgemmPhases GpuSpgemmPlan::phases() const {
  SpgemmPhases phases = phases_;
  // Also counts products that were only timed.
  const State& state = *state_;
  const std::uint64_t now = state.memory.peak_bytes();
  phases.peak_bytes = std::max(state.product_peak_bytes, state.values_prepared ? 0 : now);
  phases.reuse_peak_bytes = std::max(state.reuse_peak_bytes, state.values_prepared ? now : 0);
  phases.structure_seconds = state.structure_seconds;
  return phases;
}

std::string GpuSpgemmPlan::choice() const {
  const std::string inner = kernel_->choice();
  std::string text = chosen_;
  if (!inner.empty()) append_item(text, inner);
  if (ranges_.size() > 1) {
    append_item(text, counted(ranges_.size(), "block") + " of rows");
  }
  return text;
}

}  // namespace csrkit::gpu
