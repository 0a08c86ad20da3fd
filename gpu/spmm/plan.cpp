#include "gpu/spmm/plan.h"

#include <algorithm>

#include "core/base/stopwatch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/head_start.h"
#include "gpu/plan/operands.h"
#include "gpu/plan/resources.h"

namespace csrkit::gpu {

struct GpuSpmmPlan::State : PlanResources {
  using PlanResources::PlanResources;

  DeviceCsr a;
  DeviceBuffer<std::byte> workspace;
  DenseTwin b_twin, c_twin;

  bool is_bound = false;
  bool c_twin_is_current = false;  // holds what C is meant to hold
  DenseView host_c;                // where fetch_output brings C, if that is on the host
  ConstDenseView b;                // as the device sees them
  DenseView c;
};

GpuSpmmPlan::GpuSpmmPlan(Capabilities capabilities, const SpmmProblem& problem,
                         const PlanOptions& options, std::unique_ptr<DeviceSpmm> kernel)
    : problem_(problem),
      capabilities_(capabilities),
      device_(options.where.device),
      kernel_(std::move(kernel)) {
  require_device(device_);  // throws, with the reason, where there is no GPU
  const DeviceScope scope(device_);
  state_ = std::make_unique<State>(device_, options);
  State& state = *state_;

  const bool transpose_here = problem.transpose_a && !kernel_->transposes();
  SpmmSizes sizes = {problem.a.rows(), problem.a.cols(), problem.a.nnz(), problem.dense_cols};
  if (transpose_here) std::swap(sizes.rows, sizes.cols);
  const std::uint64_t workspace_bytes = kernel_->workspace_bytes(sizes);
  if (options.saved != nullptr && options.saved->size() != kernel_->analysis_bytes(sizes)) {
    throw UsageError("the saved analysis has " + std::to_string(options.saved->size()) +
                     " bytes; this kernel's for this problem has " +
                     std::to_string(kernel_->analysis_bytes(sizes)));
  }
  const ValueKind kind = problem.a.value_kind();
  const bool is_there = problem.a.space() == MemorySpace::device;
  if (is_there) require_device_addresses(problem.a);
  const std::uint64_t a_bytes =
      is_there && !transpose_here ? 0 : DeviceCsr::forecast_bytes(sizes.rows, sizes.nnz, kind);
  state.memory.require(a_bytes + workspace_bytes, "A (" + std::to_string(sizes.rows) + " rows, " +
                                                      std::to_string(sizes.nnz) +
                                                      " nonzeros) with the kernel's workspace");

  // The device sorts the entries if it has room for both and for the sorting, else the host does.
  const std::uint64_t sorting_bytes =
      (is_there ? 0 : DeviceCsr::forecast_bytes(sizes.cols, sizes.nnz, kind)) +
      std::max(DeviceCsr::transpose_bytes(sizes.rows, sizes.nnz, kind), workspace_bytes);
  const bool sorts_here =
      transpose_here && DeviceCsr::can_transpose(sizes.nnz) && state.memory.has(sorting_bytes);
  if (is_there && transpose_here && !sorts_here) {
    state.memory.require(sorting_bytes, "A^T of a matrix on the device");
    throw UsageError("A on the device has too many nonzeros to be transposed there (" +
                     std::to_string(sizes.nnz) + "); give A in host memory, or A^T");
  }
  const Stopwatch transposing;
  const CsrMatrix a =
      transpose_here && !sorts_here ? transpose(problem.a, options.where.threads) : problem.a;
  if (transpose_here) phases_.analysis_seconds += transposing.seconds();

  state.timer.start(state.stream.get());
  state.a = DeviceCsr(state.memory, a);
  state.timer.stop(state.stream.get());
  if (!is_there) phases_.upload_a_seconds = state.timer.seconds();

  const Stopwatch analysing;
  if (sorts_here) state.a = state.a.transposed(state.memory);
  state.workspace = DeviceBuffer<std::byte>(state.memory, static_cast<Offset>(workspace_bytes),
                                            "the kernel's workspace");
  analysis_bytes_ = kernel_->analysis_bytes(sizes);
  if (options.saved != nullptr && analysis_bytes_ > 0) {
    kernel_->adopt(sizes, state.workspace.data());
    CHECK_CUDA(cudaMemcpyAsync(state.workspace.data(), options.saved->data(), analysis_bytes_,
                               cudaMemcpyHostToDevice, state.stream.get()));
  } else {
    kernel_->analyse(state.a.view<void>(), sizes, state.workspace.data(), state.stream.get());
  }
  kernel_->finish_analysis(state.workspace.data(), state.stream.get());
  state.stream.wait();
  phases_.analysis_seconds += analysing.seconds();
}

GpuSpmmPlan::~GpuSpmmPlan() {
  try {
    const DeviceScope scope(device_);
    kernel_.reset();
    state_.reset();
  } catch (const Error&) {
    // The device is gone, and what the plan held there with it.
  }
}

void GpuSpmmPlan::bind(ConstDenseView b, DenseView c) {
  require_bindable(shape(), capabilities_, b, c);
  const DeviceScope scope(device_);
  State& state = *state_;
  state.is_bound = false;
  const bool b_on_host = b.space == MemorySpace::host, c_on_host = c.space == MemorySpace::host;
  if (!b_on_host) require_device_address("B", b);
  if (!c_on_host) require_device_address("C", c);

  const std::uint64_t b_bytes = b_on_host ? dense_bytes(b.rows, b.cols, b.kind) : 0;
  const std::uint64_t c_bytes = c_on_host ? dense_bytes(c.rows, c.cols, c.kind) : 0;
  const std::uint64_t held = state.b_twin.bytes.size_bytes() + state.c_twin.bytes.size_bytes();
  if (b_bytes + c_bytes > held) {
    state.memory.require(b_bytes + c_bytes - held, "holding B (" + std::to_string(b_bytes) +
                                                       " bytes) and C (" + std::to_string(c_bytes) +
                                                       " bytes) on the device");
  }
  state.b_twin.make(state.memory, b_bytes, "B on the device");
  state.c_twin.make(state.memory, c_bytes, "C on the device");
  state.b = b;
  if (b_on_host) {
    const DenseView twin = state.b_twin.view(b);
    state.timer.start(state.stream.get());
    copy_dense(twin, b, state.stream.get());
    state.timer.stop(state.stream.get());
    phases_.upload_b_seconds = state.timer.seconds();
    state.b = twin;
  }
  state.host_c = c;
  state.c = c_on_host ? state.c_twin.view(c) : c;
  state.c_twin_is_current = false;

  if (kernel_->wants_trials(state.b, state.c)) {
    const Stopwatch trying;
    DenseView scratch = state.c;
    DeviceBuffer<std::byte> stand_in;
    if (!c_on_host) {  // C is the caller's until multiply
      const std::uint64_t elements =
          static_cast<std::uint64_t>(c.rows) * static_cast<std::uint64_t>(c.leading_dim);
      stand_in = DeviceBuffer<std::byte>(
          state.memory, static_cast<Offset>(elements * static_cast<std::uint64_t>(size_of(c.kind))),
          "a stand-in for C while algorithms are tried");
      scratch.data = stand_in.data();
    }
    kernel_->run_trials(state.a.view<void>(), state.b, scratch, state.memory);
    state.stream.wait();
    phases_.analysis_seconds += trying.seconds();
  }
  state.is_bound = true;
}

void GpuSpmmPlan::prepare_output(double alpha, double beta) {
  require_multipliable(problem_.semiring, capabilities_, alpha, beta);
  State& state = *state_;
  if (!state.is_bound) throw UsageError("multiply without operands: bind B and C first");
  const bool c_on_host = state.host_c.space == MemorySpace::host;
  if (c_on_host && beta != 0 && !state.c_twin_is_current) {
    copy_dense(state.c, state.host_c, state.stream.get());
  }
  state.c_twin_is_current = c_on_host;
}

void GpuSpmmPlan::launch(double alpha, double beta) {
  State& state = *state_;
  kernel_->launch(state.a.view<void>(), state.b, state.c, alpha, beta, state.workspace.data(),
                  state.stream.get());
}

void GpuSpmmPlan::multiply(double alpha, double beta) {
  const DeviceScope scope(device_);
  prepare_output(alpha, beta);
  launch(alpha, beta);
}

void GpuSpmmPlan::wait() {
  const DeviceScope scope(device_);
  state_->stream.wait();
}

double GpuSpmmPlan::time_multiply(double alpha, double beta) {
  const DeviceScope scope(device_);
  prepare_output(alpha, beta);
  give_head_start(state_->stream.get());
  state_->timer.start(state_->stream.get());
  launch(alpha, beta);
  state_->timer.stop(state_->stream.get());
  const double seconds = state_->timer.seconds();
  state_->stream.wait();
  return seconds;
}

void GpuSpmmPlan::evict_caches() {
  const DeviceScope scope(device_);
  state_->evict_caches();
}

void GpuSpmmPlan::fetch_output() {
  const DeviceScope scope(device_);
  State& state = *state_;
  if (state.is_bound && state.c_twin_is_current) {
    state.timer.start(state.stream.get());
    copy_dense(state.host_c, state.c, state.stream.get());
    state.timer.stop(state.stream.get());
    phases_.download_seconds = state.timer.seconds();
    state.c_twin_is_current = false;  // from here on the host's C is the one that counts
  }
  state.stream.wait();
}

Phases GpuSpmmPlan::phases() const {
  Phases phases = phases_;
  phases.peak_bytes = state_->memory.peak_bytes();
  return phases;
}

std::string GpuSpmmPlan::choice() const {
  const std::string inner = kernel_->choice();
  if (chosen_.empty() || inner.empty()) return chosen_ + inner;
  return chosen_ + ", " + inner;
}

SavedAnalysis GpuSpmmPlan::save_analysis() {
  const DeviceScope scope(device_);
  SavedAnalysis bytes(analysis_bytes_);
  if (bytes.empty()) return bytes;
  CHECK_CUDA(cudaMemcpyAsync(bytes.data(), state_->workspace.data(), bytes.size(),
                             cudaMemcpyDeviceToHost, state_->stream.get()));
  state_->stream.wait();
  return bytes;
}

void GpuSpmmPlan::note_choice(const std::string& kernel, const std::string& because,
                              double seconds) {
  chosen_kernel_ = kernel;
  chosen_ = kernel + " (because " + because + ")";
  phases_.analysis_seconds += seconds;
}

}  // namespace csrkit::gpu
