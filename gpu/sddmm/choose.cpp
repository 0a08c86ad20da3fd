// auto: picks a kernel. All rules of this room are here.
// Owns     the decision; the work is the chosen kernel's
// Needs    where rows are not short: a pass that counts whether neighbouring rows share columns
// Against  choosing by hand
#include <cstdio>

#include "gpu/sddmm/dense_tiles.h"
#include "gpu/sddmm/plan.h"
#include "gpu/sddmm/row_panels/row_panels.h"

namespace csrkit::gpu::sddmm {

std::unique_ptr<DeviceSddmm> make_device_row_groups(const SddmmProblem&);
std::unique_ptr<DeviceSddmm> make_device_dense_tiles(const SddmmProblem&);

namespace {

// Measured on an H100 and an H200: docs/lab/2026-11-26-sddmm-row-panels.md, and
// docs/lab/2026-11-30-thirteenth-set.md.
constexpr Offset kFewestForTiles = 1 << 17;  // entries; with fewer only row_groups fills the device
// entries, on average: below, shared columns are not looked for
constexpr Offset kFewestOfRow = 12;

/// The share of filled places in dense tiles from which dense_tiles, which computes every place, is
/// faster.
double least_tile_fill(const SddmmProblem& problem) {
  return size_of(problem.x) == 4 ? 0.3 : size_of(problem.x) == 8 ? 0.4 : 0.5;
}

/// The share of filled places in the panels' tiles from which row_panels is faster.
double least_panel_fill(const SddmmProblem& problem) {
  const Offset row_bytes = problem.dense_cols * static_cast<Offset>(size_of(problem.x));
  if (size_of(problem.x) == 2) return 0.85;
  if (row_bytes <= 128) return 0.8;
  if (row_bytes % 16 != 0 && row_bytes < 384) return 0.75;  // narrow loads of short rows
  return size_of(problem.x) == 8 ? 0.7 : 0.55;
}

/// The filled share of the places in dense tiles. Where A has few columns, most are beyond it.
double tile_fill(const SddmmProblem& problem) {
  return static_cast<double>(problem.a.nnz()) /
         DenseTiling(problem.a.rows(), problem.a.cols()).places();
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

/// Bytes of the operands and the result.
std::uint64_t operand_bytes(const SddmmProblem& problem) {
  const auto rows =
      static_cast<std::uint64_t>(problem.a.rows()) + static_cast<std::uint64_t>(problem.a.cols());
  const auto dense_cols = static_cast<std::uint64_t>(problem.dense_cols);
  return rows * dense_cols * static_cast<std::uint64_t>(size_of(problem.x)) +
         static_cast<std::uint64_t>(problem.a.nnz()) *
             static_cast<std::uint64_t>(size_of(problem.c));
}

class Chosen final : public DeviceSddmm {
 public:
  explicit Chosen(const SddmmProblem& problem) : problem_(problem) {
    if (problem.a.nnz() >= kFewestForTiles && tile_fill(problem) >= least_tile_fill(problem)) {
      choose("dense_tiles", make_device_dense_tiles(problem),
             "of the places in its tiles " + percent(tile_fill(problem)) + " have an entry");
    } else {
      choose("row_groups", make_device_row_groups(problem),
             "equal pieces of entries suit rows of any length");
    }
  }

  void explore(const DeviceCsrView<void>& a, DeviceMemory& memory) override {
    if (name_ != "row_groups" || a.nnz < kFewestForTiles || a.nnz < kFewestOfRow * a.rows ||
        !TileLists::can_number(a.rows, a.nnz) ||
        !memory.has(TileLists::counting_bytes(a.rows) + operand_bytes(problem_))) {
      return;
    }
    TileLists lists;
    lists.count(a, memory);
    const double fill = lists.fill(a.nnz);
    if (fill < least_panel_fill(problem_) ||
        !memory.has(lists.making_bytes() + operand_bytes(problem_)))
      return;
    lists.make(a, memory);
    choose("row_panels", make_row_panels(problem_, std::move(lists)),
           "neighbouring rows share columns: of the places in their tiles " + percent(fill) +
               " have an entry");
  }
  std::uint64_t workspace_bytes(const SddmmProblem& problem) const override {
    return kernel_->workspace_bytes(problem);
  }
  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) override {
    kernel_->analyse(a, workspace, stream);
  }
  void launch(const DeviceCsrView<void>& a, const DeviceCall& call, const void* workspace,
              cudaStream_t stream) override {
    kernel_->launch(a, call, workspace, stream);
  }
  std::string choice() const override { return name_ + " (because " + reason_ + ")"; }
  std::string chosen_kernel() const override { return name_; }

 private:
  void choose(const char* name, std::unique_ptr<DeviceSddmm> kernel, std::string reason) {
    name_ = name;
    kernel_ = std::move(kernel);
    reason_ = std::move(reason);
  }

  SddmmProblem problem_;
  std::unique_ptr<DeviceSddmm> kernel_;
  std::string name_, reason_;
};

}  // namespace

std::unique_ptr<DeviceSddmm> make_device_auto(const SddmmProblem& problem) {
  return std::make_unique<Chosen>(problem);
}

}  // namespace csrkit::gpu::sddmm
