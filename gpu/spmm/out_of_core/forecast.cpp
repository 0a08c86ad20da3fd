#include "gpu/spmm/out_of_core/forecast.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "gpu/plan/kernels.h"
#include "gpu/plan/operands.h"
#include "gpu/spmm/forecast.h"
#include "gpu/spmm/out_of_core/pipeline.h"

namespace csrkit::gpu {

namespace {

constexpr char kFallback[] = "row_bins";

OutOfCoreProduct product_of(const SpmmProblem& problem, const Offset* row_offsets,
                            const std::string& kernel) {
  const std::shared_ptr<const DeviceSpmm> device_kernel = make_device_spmm(kernel, problem);
  OutOfCoreProduct product;
  product.rows = problem.output_rows();
  product.cols = problem.input_rows();
  product.row_offsets = row_offsets;
  product.dense_cols = problem.dense_cols;
  product.value_bytes = size_of(problem.a.value_kind());
  product.b_bytes = size_of(problem.b);
  product.c_bytes = size_of(problem.c);
  product.workspace_bytes = [device_kernel](const SpmmSizes& sizes) {
    return device_kernel->workspace_bytes(sizes);
  };
  return product;
}

/// The row offsets of op(A); `storage` keeps them where they are not A's.
const Offset* row_offsets_of(const SpmmProblem& problem, std::vector<Offset>* storage) {
  const CsrMatrix& a = problem.a;
  if (!problem.transpose_a) return a.row_offsets();
  storage->assign(static_cast<std::size_t>(a.cols()) + 1, 0);
  for (Offset at = 0; at < a.nnz(); ++at) {
    ++(*storage)[static_cast<std::size_t>(a.col_indices()[at]) + 1];
  }
  for (std::size_t i = 1; i < storage->size(); ++i) (*storage)[i] += (*storage)[i - 1];
  return storage->data();
}

}  // namespace

bool may_go_out_of_core(const std::string& kernel, const SpmmProblem& problem, OutOfCore how) {
  if (how == OutOfCore::never) return false;
  const SpmmKernel& row = find_kernel(spmm_kernels(), kernel);
  const bool is_on_device = problem.a.space() == MemorySpace::device;
  if (how == OutOfCore::automatic && (!row.can(kOutOfCore) || is_on_device)) return false;
  require_capabilities(row.capabilities, kOutOfCore, kernel);
  if (is_on_device) {
    throw UsageError("out of core, A is in host memory; on the device, multiply in core");
  }
  return true;
}

std::string OutOfCoreDecision::choice() const {
  const Index blocks = static_cast<Index>(cut.blocks.size());
  return kernel + because + ", out of core: " + counted(cut.panels, "panel") + " of " +
         counted(cut.panel_cols, "column") + ", " + counted(blocks, "block") + " of rows, " +
         (cut.keeps_a ? "A stays on the device" : "A travels with every panel");
}

OutOfCoreReport OutOfCoreDecision::report() const {
  OutOfCoreReport report;
  report.keeps_a = cut.keeps_a;
  report.panels = cut.panels;
  report.panel_cols = cut.panel_cols;
  report.blocks = static_cast<Index>(cut.blocks.size());
  report.bytes_in = cut.bytes_in;
  report.bytes_out = cut.bytes_out;
  report.device_bytes = cut.device_bytes;
  report.forecast_seconds = cut.seconds;
  return report;
}

OutOfCoreDecision decide_out_of_core(const std::string& kernel, const SpmmProblem& problem,
                                     const Offset* row_offsets, std::uint64_t limit_bytes,
                                     OutOfCore how, Index most_panel_cols, bool is_panel_major) {
  OutOfCoreDecision decision;
  decision.kernel = kernel;
  if (kernel == "auto") {
    decision.kernel = auto_spmm_kernel(problem);
    const bool is_ours = decision.kernel.find('.') == std::string::npos;  // else one of SpMV's
    if (!is_ours || !find_kernel(spmm_kernels(), decision.kernel).can(kOutOfCore)) {
      decision.because = " (because " + decision.kernel + " works in core only)";
      decision.kernel = kFallback;
    }
  }
  const auto cut = [&] {
    decision.product = product_of(problem, row_offsets, decision.kernel);
    decision.product.is_panel_major = is_panel_major;
    decision.cut = choose_cut(decision.product, limit_bytes, how, most_panel_cols);
  };
  if (kernel != "auto" || decision.kernel == kFallback) {
    cut();
    return decision;
  }
  try {
    cut();
  } catch (const MemoryError&) {
    decision.because = " (because " + decision.kernel + " takes too much memory)";
    decision.kernel = kFallback;
    cut();
  }
  return decision;
}

std::optional<OutOfCoreForecast> forecast_out_of_core_spmm(const std::string& kernel,
                                                           const SpmmProblem& problem,
                                                           std::uint64_t limit_bytes, int threads,
                                                           OutOfCore how, Index most_panel_cols,
                                                           bool is_panel_major) {
  require_legal(problem);
  if (!may_go_out_of_core(kernel, problem, how)) return std::nullopt;
  if (how == OutOfCore::automatic && forecast_spmm_bytes(kernel, problem) <= limit_bytes) {
    return std::nullopt;
  }
  std::vector<Offset> transposed;
  const OutOfCoreDecision decision =
      decide_out_of_core(kernel, problem, row_offsets_of(problem, &transposed), limit_bytes, how,
                         most_panel_cols, is_panel_major);
  OutOfCoreForecast forecast{decision.kernel, decision.choice(), decision.report()};
  forecast.report.staging_bytes = Pipeline::staging_bytes_of(threads);
  if (is_panel_major) {
    forecast.report.staging_bytes +=
        dense_bytes(problem.input_rows(), problem.dense_cols, problem.b) +
        dense_bytes(problem.output_rows(), problem.dense_cols, problem.c);
  }
  return forecast;
}

}  // namespace csrkit::gpu
