#include "gpu/plan/operator_plan.h"

#include <algorithm>
#include <utility>

#include "core/base/counted.h"
#include "core/base/stopwatch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/timing/head_start.h"

namespace csrkit::gpu {

OperatorPlan::OperatorPlan(Capabilities capabilities, const SpmmProblem& problem,
                           const PlanOptions& options)
    : problem_(problem), device_(options.where.device), capabilities_(capabilities) {
  require_device(device_);  // throws, with the reason, where there is no GPU
  const DeviceScope scope(device_);
  resources_ = std::make_unique<PlanResources>(device_, options);
}

OperatorPlan::~OperatorPlan() {
  on_device_without_errors([&] {
    b_twin_.bytes = {};
    c_twin_.bytes = {};
    resources_.reset();
  });
}

DeviceCsr OperatorPlan::bring_matrix(bool transposes, std::uint64_t workspace_bytes, int threads) {
  const CsrMatrix& a = problem_.a;
  DeviceMemory& memory = resources_->memory;
  const Index rows = transposes ? a.cols() : a.rows(), cols = transposes ? a.rows() : a.cols();
  const Offset nnz = a.nnz();
  const ValueKind kind = a.value_kind();
  const bool is_there = a.space() == MemorySpace::device;
  if (is_there) require_device_addresses(a);
  const std::uint64_t a_bytes =
      is_there && !transposes ? 0 : DeviceCsr::forecast_bytes(rows, nnz, kind);
  memory.require(a_bytes + workspace_bytes, "A (" + counted(rows, "row") + ", " +
                                                counted(nnz, "nonzero") +
                                                ") with the kernel's workspace");

  // The device transposes if it has room for A, A^T and the sort, else the host does.
  const std::uint64_t sorting_bytes =
      (is_there ? 0 : DeviceCsr::forecast_bytes(cols, nnz, kind)) +
      std::max(DeviceCsr::transpose_bytes(rows, nnz, kind), workspace_bytes);
  const bool sorts_here = transposes && DeviceCsr::can_transpose(nnz) && memory.has(sorting_bytes);
  if (is_there && transposes && !sorts_here) {
    memory.require(sorting_bytes, "A^T of a matrix on the device");
    throw UsageError("A on the device has too many nonzeros to be transposed there (" +
                     std::to_string(nnz) + "); give A in host memory, or A^T");
  }
  const Stopwatch transposing;
  const CsrMatrix as_stored = transposes && !sorts_here ? transpose(a, threads) : a;
  if (transposes) phases_.analysis_seconds += transposing.seconds();

  GpuTimer& timer = resources_->timer;
  const Stream& stream = resources_->stream;
  timer.start(stream.get());
  DeviceCsr stored(memory, as_stored);
  timer.stop(stream.get());
  if (is_there) {
    stream.wait();
  } else {
    phases_.upload_a_seconds = timer.seconds();
  }
  if (!sorts_here) return stored;
  const Stopwatch sorting;
  DeviceCsr sorted = stored.transposed(memory);
  stream.wait();
  phases_.analysis_seconds += sorting.seconds();
  return sorted;
}

void OperatorPlan::bind(ConstDenseView b, DenseView c) {
  require_bindable(shape(), capabilities_, b, c);
  const DeviceScope scope(device_);
  DeviceMemory& memory = resources_->memory;
  is_bound_ = false;
  const bool b_on_host = b.space == MemorySpace::host, c_on_host = c.space == MemorySpace::host;
  if (b_on_host || c_on_host) resources_->stream.go_back();
  const cudaStream_t stream = resources_->stream.get();
  if (!b_on_host) require_device_address("B", b);
  if (!c_on_host) require_device_address("C", c);

  const std::uint64_t b_bytes = b_on_host ? dense_bytes(b.rows, b.cols, b.kind) : 0;
  const std::uint64_t c_bytes = c_on_host ? dense_bytes(c.rows, c.cols, c.kind) : 0;
  const std::uint64_t held = b_twin_.bytes.size_bytes() + c_twin_.bytes.size_bytes();
  if (b_bytes + c_bytes > held) {
    memory.require(b_bytes + c_bytes - held, "holding B (" + counted(b_bytes, "byte") +
                                                 ") and C (" + counted(c_bytes, "byte") +
                                                 ") on the device");
  }
  b_twin_.make(memory, b_bytes, "B on the device");
  c_twin_.make(memory, c_bytes, "C on the device");
  b_ = b;
  if (b_on_host) {
    const DenseView twin = b_twin_.view(b);
    resources_->timer.start(stream);
    copy_dense(twin, b, stream);
    resources_->timer.stop(stream);
    phases_.upload_b_seconds = resources_->timer.seconds();
    b_ = twin;
  }
  host_c_ = c;
  c_ = c_on_host ? c_twin_.view(c) : c;
  c_twin_is_current_ = false;
  if (wants_trials(b_, c_)) try_kernels(c, c_on_host);
  is_bound_ = true;
}

void OperatorPlan::try_kernels(const DenseView& c, bool c_on_host) {
  const Stopwatch trying;
  DenseView scratch = c_;
  DeviceBuffer<std::byte> stand_in;
  if (!c_on_host) {  // C is the caller's until multiply
    const std::uint64_t elements =
        static_cast<std::uint64_t>(c.rows) * static_cast<std::uint64_t>(c.leading_dim);
    stand_in = DeviceBuffer<std::byte>(
        resources_->memory,
        static_cast<Offset>(elements * static_cast<std::uint64_t>(size_of(c.kind))),
        "a stand-in for C while algorithms are tried");
    scratch.data = stand_in.data();
  }
  run_trials(b_, scratch);
  resources_->stream.wait();
  phases_.analysis_seconds += trying.seconds();
}

void OperatorPlan::prepare_output(double alpha, double beta) {
  require_multipliable(problem_.semiring, capabilities_, problem_.accumulate, alpha, beta);
  if (!is_bound_) throw UsageError("multiply without operands: bind B and C first");
  const bool c_on_host = host_c_.space == MemorySpace::host;
  if (c_on_host && beta != 0 && !c_twin_is_current_) {
    copy_dense(c_, host_c_, resources_->stream.get());
  }
  c_twin_is_current_ = c_on_host;
}

void OperatorPlan::multiply(double alpha, double beta) {
  const DeviceScope scope(device_);
  prepare_output(alpha, beta);
  launch(b_, c_, alpha, beta);
}

void OperatorPlan::use_stream(void* stream) {
  const DeviceScope scope(device_);
  resources_->stream.go_to(static_cast<cudaStream_t>(stream));
}

void OperatorPlan::set_values(const void* values) {
  require_replaceable_values(problem_);
  const DeviceScope scope(device_);
  if (problem_.a.nnz() == 0) return;
  require_device_address("the array of A's values",
                         {values, problem_.a.value_kind(), 1, 1, 1, MemorySpace::device});
  if ((capabilities_ & kDeviceMatrix) == 0 || !take_values(values)) {
    throw UsageError(
        "a plan of this kernel takes no new values; make one of row_bins and two columns or more, "
        "or a new plan");
  }
}

void OperatorPlan::wait() {
  const DeviceScope scope(device_);
  resources_->stream.wait();
}

double OperatorPlan::time_multiply(double alpha, double beta) {
  const DeviceScope scope(device_);
  prepare_output(alpha, beta);
  const cudaStream_t stream = resources_->stream.get();
  give_head_start(stream);
  resources_->timer.start(stream);
  launch(b_, c_, alpha, beta);
  resources_->timer.stop(stream);
  const double seconds = resources_->timer.seconds();
  resources_->stream.wait();
  return seconds;
}

void OperatorPlan::evict_caches() {
  const DeviceScope scope(device_);
  resources_->evict_caches();
}

void OperatorPlan::fetch_output() {
  const DeviceScope scope(device_);
  if (is_bound_ && c_twin_is_current_) {
    const cudaStream_t stream = resources_->stream.get();
    resources_->timer.start(stream);
    copy_dense(host_c_, c_, stream);
    resources_->timer.stop(stream);
    phases_.download_seconds = resources_->timer.seconds();
    c_twin_is_current_ = false;  // the host's C is now the current one
  }
  resources_->stream.wait();
}

Phases OperatorPlan::phases() const {
  Phases phases = phases_;
  phases.peak_bytes = resources_->memory.peak_bytes();
  return phases;
}

std::string OperatorPlan::choice() const {
  const std::string inner = choice_of_kernel();
  if (chosen_.empty() || inner.empty()) return chosen_ + inner;
  return chosen_ + ", " + inner;
}

void OperatorPlan::note_choice(const std::string& kernel, const std::string& because,
                               double seconds) {
  chosen_kernel_ = kernel;
  chosen_ = kernel + " (because " + because + ")";
  phases_.analysis_seconds += seconds;
}

void OperatorPlan::note_operation(const std::string& operation) {
  chosen_kernel_ = operation + "." + chosen_kernel_;
  chosen_ = operation + "." + chosen_;
}

}  // namespace csrkit::gpu
