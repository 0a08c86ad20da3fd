// The plan of every SpGEMM kernel on GPUs: the adapter between core/contract/spgemm.h and
// DeviceSpgemm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/spgemm.h"
#include "gpu/spgemm/device_spgemm.h"
#include "gpu/spgemm/row_ranges.h"

namespace csrkit::gpu {

/// What the plan does for every kernel: the least that a row of kernels.inc declares.
inline constexpr Capabilities kDoneByPlan =
    kImplicitOnes | kF32 | kF64 | kF16 | kBf16 | kTranspose | kMask | kDropBelow;
/// What rungs of the ladder declare.
inline constexpr Capabilities kSpgemmLadder = kDoneByPlan | kAlphaBeta | kIeeeSpecials | kRowBlocks;

struct SpgemmPlanState;  // gpu/spgemm/plan_state.h

/// The constructor uploads A, B (once if they are the same arrays) and the mask's structure. They
/// stay on the device, and so does the last C of a kernel that can reuse its structure. If the
/// forecast does not fit, A is cut into ranges of rows and C leaves the device range by range. The
/// bits are the same, because a row of C depends only on its row of A.
class GpuSpgemmPlan final : public SpgemmPlan {
 public:
  /// `name` and `capabilities` are those of the kernel's row in kernels.inc.
  GpuSpgemmPlan(const char* name, Capabilities capabilities, const SpgemmProblem& problem,
                const PlanOptions& options, std::unique_ptr<DeviceSpgemm> kernel);
  ~GpuSpgemmPlan() override;

  void multiply(CsrSink& sink) override;
  void set_values(const CsrMatrix& a, const CsrMatrix& b) override;
  void expect_new_values() override;
  double time_multiply() override;
  double time_numeric() override;
  void evict_caches() override;
  SpgemmForecast forecast() const override { return forecast_; }
  SpgemmPhases phases() const override;
  std::string choice() const override;

  std::string chosen_kernel() const override { return chosen_kernel_; }

  /// Records that a chooser chose this kernel, and why.
  void note_choice(const std::string& kernel, const std::string& because) {
    chosen_kernel_ = kernel;
    chosen_ = kernel + " (because " + because + ")";
  }

 private:
  using State = SpgemmPlanState;
  void make_ranges(const CsrMatrix& op_b);
  std::uint64_t forecast_of(const SpgemmSizes& sizes) const;
  SpgemmOperands operands_of(const RowRange& range) const;
  DeviceProduct empty_product(const RowRange& range) const;
  /// Runs the kernel over one range. Returns C, which is moved to the state's structure if it can
  /// be reused.
  const DeviceProduct& run(const RowRange& range, DeviceProduct& c, PhaseMarks* marks);
  /// Applies masks and dropping into `kept`; returns `kept`, or `c` if there is nothing to apply.
  const DeviceProduct& filter(const RowRange& range, const DeviceProduct& c, DeviceProduct& kept);
  bool can_reuse() const { return kernel_->can_reuse() && ranges_.size() == 1; }
  void require_reuse() const;
  void drop_structure();
  void renew_values();
  void note_peak();

  const char* name_;
  SpgemmProblem problem_;
  Capabilities capabilities_;
  int device_;
  int threads_;    // threads of host work, as in team_size
  bool shares_b_;  // A and B share their arrays on the device
  std::vector<RowRange> ranges_;
  SpgemmForecast forecast_;
  SpgemmPhases phases_;
  bool expects_values_ = false;
  double plan_analysis_seconds_ = 0;
  std::string chosen_, chosen_kernel_;
  std::unique_ptr<State> state_;
  std::unique_ptr<DeviceSpgemm> kernel_;  // destroyed before the memory that it uses
};

}  // namespace csrkit::gpu
