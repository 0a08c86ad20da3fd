#include "gpu/spmm/out_of_core/plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/available_memory.h"
#include "core/base/stopwatch.h"
#include "core/base/team.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/work_stream.h"
#include "gpu/plan/kernels.h"
#include "gpu/plan/resources.h"
#include "gpu/spmm/device_spmm.h"
#include "gpu/spmm/forecast.h"
#include "gpu/spmm/out_of_core/forecast.h"
#include "gpu/spmm/out_of_core/host_panels.h"
#include "gpu/spmm/out_of_core/pipeline.h"

namespace csrkit::gpu {

namespace {

void wait_for(cudaStream_t stream, const Event& event) {
  CHECK_CUDA(cudaStreamWaitEvent(stream, event.get(), 0));
}
void record(const Event& event, cudaStream_t stream) {
  CHECK_CUDA(cudaEventRecord(event.get(), stream));
}

/// op(A) on the host.
CsrMatrix op_a(const SpmmProblem& problem, const PlanOptions& options) {
  if (!problem.transpose_a) return problem.a;
  require_available_memory(
      problem.a.size_bytes() + transpose_workspace_bytes(problem.a, options.where.threads),
      "transposing A on the host",
      "multiply by a file of A^T, made where there is more: csr-export A.csr A.mtx, then "
      "csr-import A.mtx AT.csr --transpose");
  return transpose(problem.a, options.where.threads);
}

/// The limit if none is given: most of the free memory; the driver needs some to load kernels.
std::uint64_t limit_of(const DeviceMemory& memory, const PlanOptions& options) {
  const std::uint64_t available = memory.available_bytes();
  return options.memory_limit_bytes != 0 ? available : available - available / 32;
}

class OutOfCorePlan final : public OutOfCoreSpmm {
 public:
  OutOfCorePlan(const std::string& kernel, const SpmmProblem& problem, const PlanOptions& options,
                OutOfCore how, Index most_panel_cols, bool is_panel_major)
      : problem_(problem), device_(options.where.device) {
    require_device(device_);
    const DeviceScope scope(device_);
    resources_ = std::make_unique<PlanResources>(device_, options);
    const int threads = team_size(options.where.threads);
    const Stopwatch transposing;
    a_ = op_a(problem, options);
    if (problem.transpose_a) phases_.analysis_seconds += transposing.seconds();
    decision_ = decide_out_of_core(kernel, problem_, a_.row_offsets(),
                                   limit_of(resources_->memory, options), how, most_panel_cols,
                                   is_panel_major);
    capabilities_ = find_kernel(spmm_kernels(), decision_.kernel).capabilities;
    b_ = HostPanels(cut_.panel_cols, product_.is_panel_major, threads);
    c_ = HostPanels(cut_.panel_cols, product_.is_panel_major, threads);
    kernels_.push_back(make_device_spmm(decision_.kernel, problem_));
    const std::size_t kernels =
        cut_.keeps_a ? cut_.blocks.size() : static_cast<std::size_t>(cut_.a_buffers);
    while (kernels_.size() < kernels)
      kernels_.push_back(make_device_spmm(decision_.kernel, problem_));
    make_buffers();
    on_device_ = std::make_unique<OnDevice>(options.where.threads);
    resources_->stream.wait();  // allocations are ordered in that stream
    if (cut_.keeps_a) bring_a();
  }

  ~OutOfCorePlan() override {
    try {
      const DeviceScope scope(device_);
      on_device_.reset();
      b_ = {};
      c_ = {};
      kernels_.clear();
      memory_ = {};
      resources_.reset();
    } catch (const Error&) {  // the device is gone, and what the plan held there with it
    }
  }

  OperatorShape shape() const override { return shape_of(problem_, MemorySpace::host); }

  void bind(ConstDenseView b, DenseView c) override {
    require_bindable(shape(), capabilities_, b, c);
    if (b.space != MemorySpace::host || c.space != MemorySpace::host) {
      throw UsageError("out of core, B and C are in host memory; on the device, multiply in core");
    }
    is_bound_ = false;
    c_panels_are_current_ = false;
    const DeviceScope scope(device_);
    const Stopwatch packing;
    b_.bind(b);
    if (product_.is_panel_major) {
      b_.pack();
      phases_.upload_b_seconds = packing.seconds();
    }
    c_.bind(c);
    is_bound_ = true;
  }

  void multiply(double alpha, double beta) override {
    require_multipliable(problem_.semiring, capabilities_, problem_.accumulate, alpha, beta);
    if (!is_bound_) throw UsageError("multiply without operands: bind B and C first");
    const DeviceScope scope(device_);
    if (copy_rate_ == 0) {
      copy_rate_ = on_device_->pipeline.copy_bytes_per_second(
          b_at_, c_at_, std::min(cut_.b_buffer_bytes, cut_.c_buffer_bytes));
    }
    if (product_.is_panel_major && beta != 0 && !c_panels_are_current_) c_.pack();
    const Schedule schedule = schedule_of(alpha, beta);
    const Stopwatch watch;
    on_device_->pipeline.run(schedule);
    resources_->stream.wait();
    seconds_ = watch.seconds();
    c_panels_are_current_ = product_.is_panel_major;
    moved_in_ = 0;
    for (const Piece& piece : schedule.in_order) moved_in_ += piece.size();
  }

  void fetch_output() override {
    if (!c_panels_are_current_) return;
    const Stopwatch unpacking;
    c_.unpack();
    phases_.download_seconds = unpacking.seconds();
    c_panels_are_current_ = false;  // the caller's C is now the current one
  }

  double time_multiply(double alpha, double beta) override {
    multiply(alpha, beta);
    return seconds_;
  }

  void evict_caches() override {}  // operands come from the host every time

  Phases phases() const override {
    Phases phases = phases_;
    phases.peak_bytes = resources_->memory.peak_bytes();
    return phases;
  }

  std::string choice() const override { return decision_.choice(); }
  std::string chosen_kernel() const override { return decision_.kernel; }

  OutOfCoreReport report() const override {
    OutOfCoreReport report = decision_.report();
    if (seconds_ > 0) report.bytes_in = moved_in_;
    report.staging_bytes =
        on_device_->pipeline.staging_bytes() + b_.copied_bytes() + c_.copied_bytes();
    report.copy_bytes_per_second = copy_rate_;
    report.seconds = seconds_;
    return report;
  }

 private:
  /// Created with the plan's device current.
  struct OnDevice {
    explicit OnDevice(int threads) : pipeline(threads) {}
    Pipeline pipeline;
    WorkStream analysis{true};  // an analysis must not wait until a product leaves room
    // Events of the two buffers of each kind.
    Event a_loaded[2], a_free[2], b_loaded[2], b_free[2], c_loaded[2], computed[2], drained[2];
  };

  void make_buffers() {
    memory_ = DeviceBuffer<std::byte>(resources_->memory, static_cast<Offset>(cut_.device_bytes),
                                      "the product out of core");
    std::byte* next = memory_.data();
    const std::size_t count = cut_.keeps_a ? cut_.blocks.size() : kernels_.size();
    for (std::size_t i = 0; i < count; ++i) {
      a_at_.push_back(next);
      next += cut_.keeps_a ? cut_.blocks[i].bytes : cut_.a_buffer_bytes;
    }
    b_at_ = next;
    next += static_cast<std::uint64_t>(cut_.b_buffers) * cut_.b_buffer_bytes;
    c_at_ = next;
  }

  /// The arrays of a block as regions to copy to `at`.
  std::vector<Region> regions_of(const BlockLayout& block, std::byte* at) const {
    const auto region = [](const void* from, std::size_t element, Offset count, std::byte* to) {
      // Regions that are copied in are only read.
      auto* const bytes = const_cast<std::byte*>(static_cast<const std::byte*>(from));
      return Region{bytes, element, element, count, to};
    };
    Region offsets = region(a_.row_offsets() + block.first_row, sizeof(std::uint32_t),
                            Offset{block.rows} + 1, at);
    offsets.narrows = true;
    offsets.base = block.first_entry;
    std::vector<Region> regions{offsets, region(a_.col_indices() + block.first_entry, sizeof(Index),
                                                block.entries, at + block.cols_at)};
    if (product_.value_bytes > 0 && block.entries > 0) {
      const auto value_bytes = static_cast<std::size_t>(product_.value_bytes);
      regions.push_back(region(static_cast<const std::byte*>(a_.values()) +
                                   static_cast<std::size_t>(block.first_entry) * value_bytes,
                               value_bytes, block.entries, at + block.values_at));
    }
    return regions;
  }

  DeviceCsrView<void> view_of(const BlockLayout& block, std::byte* at) const {
    return {block.rows,
            product_.cols,
            block.entries,
            {reinterpret_cast<const std::uint32_t*>(at), nullptr},
            0,
            reinterpret_cast<const Index*>(at + block.cols_at),
            product_.value_bytes > 0 ? at + block.values_at : nullptr};
  }

  void analyse(DeviceSpmm& kernel, const BlockLayout& block, std::byte* at) const {
    const cudaStream_t stream = on_device_->analysis.get();
    kernel.analyse(view_of(block, at), block.sizes(product_, cut_.panel_cols),
                   at + block.workspace_at, stream);
    kernel.finish_analysis(at + block.workspace_at, stream);
  }

  /// Copies A once; blocks are analysed when all have arrived.
  void bring_a() {
    Schedule schedule;
    for (std::size_t i = 0; i < cut_.blocks.size(); ++i) {
      InBatch batch;
      batch.regions = regions_of(cut_.blocks[i], a_at_[i]);
      batch.loaded = on_device_->a_loaded[0].get();
      schedule.in.push_back(std::move(batch));
    }
    std::vector<Index> all(cut_.blocks.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    schedule.in_order = in_order(schedule.in, all, {}, Pipeline::kPieceBytes);
    const Stopwatch uploading;
    on_device_->pipeline.run(schedule);
    phases_.upload_a_seconds = uploading.seconds();
    const Stopwatch analysing;
    for (std::size_t i = 0; i < cut_.blocks.size(); ++i) {
      analyse(*kernels_[i], cut_.blocks[i], a_at_[i]);
    }
    CHECK_CUDA(cudaStreamSynchronize(on_device_->analysis.get()));
    phases_.analysis_seconds += analysing.seconds();
  }

  std::byte* b_buffer(Index panel) const {
    return b_at_ + static_cast<std::uint64_t>(panel % 2) * cut_.b_buffer_bytes;
  }
  std::byte* c_buffer(Index step) const {
    return c_at_ + static_cast<std::uint64_t>(step % 2) * cut_.c_buffer_bytes;
  }

  /// Brings a panel of B; from the third on into the buffer of the last but one, once that is free.
  InBatch batch_of_b(Index panel) {
    InBatch batch;
    batch.regions = {b_.rows(panel, 0, product_.cols, b_buffer(panel))};
    batch.loaded = on_device_->b_loaded[panel % 2].get();
    if (panel >= 2) {
      batch.after_issued = (panel - 1) * static_cast<Index>(cut_.blocks.size()) - 1;
      batch.is_free = on_device_->b_free[panel % 2].get();
    }
    return batch;
  }
  /// Brings the block of A of a step, likewise.
  InBatch batch_of_a(Index step, const BlockLayout& block) {
    InBatch batch;
    batch.regions = regions_of(block, a_at_[static_cast<std::size_t>(step % 2)]);
    batch.loaded = on_device_->a_loaded[step % 2].get();
    if (step >= 2) {
      batch.after_issued = step - 2;
      batch.is_free = on_device_->a_free[step % 2].get();
    }
    return batch;
  }
  /// Brings what a step adds to; the buffer is free once the result of the last but one has left.
  InBatch batch_of_c(Index step, const Region& result) {
    InBatch batch;
    batch.regions = {result};
    batch.loaded = on_device_->c_loaded[step % 2].get();
    if (step >= 2) {
      batch.after_drained = step - 2;
      batch.is_free = on_device_->drained[step % 2].get();
    }
    return batch;
  }

  Schedule schedule_of(double alpha, double beta) {
    OnDevice& on = *on_device_;
    const auto blocks = static_cast<Index>(cut_.blocks.size());
    Schedule schedule;
    for (Index panel = 0; panel < cut_.panels; ++panel) schedule.in.push_back(batch_of_b(panel));
    std::vector<StepLoads> loads;
    for (Index number = 0; number < cut_.steps(); ++number) {
      const Index panel = number / blocks, turn = number % blocks;
      const BlockLayout& block = cut_.blocks[static_cast<std::size_t>(turn)];
      Step step;
      StepLoads own;
      step.needs.push_back(panel);
      step.after_drained = number >= 2 ? number - 2 : -1;
      if (panel + 1 < cut_.panels) {
        own.ahead = panel + 1;
        own.turn = turn;
        own.turns = blocks;
      }
      const auto add_batch = [&](InBatch batch) {
        const auto place = static_cast<Index>(schedule.in.size());
        schedule.in.push_back(std::move(batch));
        step.needs.push_back(place);
        own.own.push_back(place);
      };
      if (!cut_.keeps_a) add_batch(batch_of_a(number, block));
      const Region result = c_.rows(panel, block.first_row, block.rows, c_buffer(number));
      if (beta != 0) add_batch(batch_of_c(number, result));
      schedule.out.push_back({result, on.computed[number % 2].get(), on.drained[number % 2].get()});
      step.issue = [this, number, alpha, beta] { issue(number, alpha, beta); };
      schedule.steps.push_back(std::move(step));
      loads.push_back(std::move(own));
    }
    std::vector<Index> first;
    if (cut_.panels > 0) first.push_back(0);
    schedule.in_order = in_order(schedule.in, first, loads, Pipeline::kPieceBytes);
    return schedule;
  }

  void issue(Index number, double alpha, double beta) {
    OnDevice& on = *on_device_;
    const auto blocks = static_cast<Index>(cut_.blocks.size());
    const Index panel = number / blocks, turn = number % blocks, half = number % 2;
    const BlockLayout& block = cut_.blocks[static_cast<std::size_t>(turn)];
    const auto place = static_cast<std::size_t>(cut_.keeps_a ? turn : half);
    DeviceSpmm& kernel = *kernels_[place];
    std::byte* const at = a_at_[place];
    if (!cut_.keeps_a) {  // meanwhile the last product runs
      wait_for(on.analysis.get(), on.a_loaded[half]);
      analyse(kernel, block, at);
    }
    const cudaStream_t stream = resources_->stream.get();
    if (!cut_.keeps_a) wait_for(stream, on.a_loaded[half]);
    wait_for(stream, on.b_loaded[panel % 2]);
    if (number >= 2) wait_for(stream, on.drained[half]);
    if (beta != 0) wait_for(stream, on.c_loaded[half]);
    const Index cols = cut_.cols_of(panel, product_.dense_cols);
    const ConstDenseView b{b_buffer(panel),    problem_.b, product_.cols, cols, cols,
                           MemorySpace::device};
    const DenseView c{c_buffer(number), problem_.c, block.rows, cols, cols, MemorySpace::device};
    kernel.launch(view_of(block, at), b, c, alpha, beta, at + block.workspace_at, stream);
    record(on.computed[half], stream);
    record(on.a_free[half], stream);
    if (turn == blocks - 1) record(on.b_free[panel % 2], stream);
  }

  Capabilities capabilities_ = 0;
  SpmmProblem problem_;
  int device_;
  Phases phases_;
  std::unique_ptr<PlanResources> resources_;
  CsrMatrix a_;  // op(A)
  // one for each block that stays, or for each buffer
  std::vector<std::unique_ptr<DeviceSpmm>> kernels_;
  OutOfCoreDecision decision_;
  const OutOfCoreProduct& product_ = decision_.product;
  const Cut& cut_ = decision_.cut;
  DeviceBuffer<std::byte> memory_;
  std::vector<std::byte*> a_at_;
  std::byte *b_at_ = nullptr, *c_at_ = nullptr;
  std::unique_ptr<OnDevice> on_device_;
  bool is_bound_ = false;
  HostPanels b_, c_;
  bool c_panels_are_current_ = false;  // the panels hold the current C, and the caller's does not
  double seconds_ = 0, copy_rate_ = 0;
  std::uint64_t moved_in_ = 0;
};

bool fits_in_core(const std::string& kernel, const SpmmProblem& problem,
                  const PlanOptions& options) {
  require_device(options.where.device);
  const DeviceScope scope(options.where.device);
  const DeviceMemory memory(options.where.device, nullptr, options.memory_limit_bytes);
  return memory.has(forecast_spmm_bytes(kernel, problem));
}

}  // namespace

std::unique_ptr<OutOfCoreSpmm> make_out_of_core_spmm(const std::string& kernel,
                                                     const SpmmProblem& problem,
                                                     const PlanOptions& options, OutOfCore how,
                                                     Index most_panel_cols, bool is_panel_major) {
  require_legal(problem);
  const SpmmKernel& row = find_kernel(spmm_kernels(), kernel);
  require_plannable(row, needed_for(problem), options, /*has_variants=*/false);
  if (!may_go_out_of_core(kernel, problem, how)) return nullptr;
  if (how == OutOfCore::automatic && fits_in_core(kernel, problem, options)) return nullptr;
  return std::make_unique<OutOfCorePlan>(kernel, problem, options, how, most_panel_cols,
                                         is_panel_major);
}

}  // namespace csrkit::gpu
