// What libcsrkit_gpu offers to programs, which open it at run time (api/rooms.cpp does),
// so that they start without CUDA's libraries. No CUDA in this header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/device_ranks.h"
#include "core/contract/out_of_core_forecast.h"
#include "core/contract/sddmm.h"
#include "core/contract/solve.h"
#include "core/contract/spgemm.h"
#include "core/contract/spmm.h"
#include "core/facts/summed_area_table.h"
#include "gpu/density/summed_area_table.h"
#include "gpu/device/device_clocks.h"
#include "gpu/device/device_info.h"

namespace csrkit::gpu {

/// One function per line; the headers of gpu/ document them and their errors. Tables and forecasts
/// need no GPU.
struct Face {
  /// build_id() of the libcsrkit that this library was built with. Read it first: if it differs
  /// from the program's, the layout of this struct may differ too.
  const char* build_id;
  /// 32 hexadecimal digits. Libraries with the same one make and read saved analyses alike
  /// (kSavedAnalysis): they are made from the same sources.
  const char* analysis_id;
  const KernelTable<Spmm>& (*spmm_kernels)();
  const KernelTable<Spmm>& (*spmm_marks)();
  const KernelTable<Spmm>& (*spmv_kernels)();
  const KernelTable<Spgemm>& (*spgemm_kernels)();
  const KernelTable<Sddmm>& (*sddmm_kernels)();
  const KernelTable<Solve>& (*solve_kernels)();
  std::uint64_t (*forecast_spmm_bytes)(const std::string& kernel, const SpmmProblem& problem);
  std::uint64_t (*forecast_spmv_bytes)(const std::string& kernel, const SpmmProblem& problem);
  std::unique_ptr<OutOfCoreSpmm> (*make_out_of_core_spmm)(const std::string& kernel,
                                                          const SpmmProblem& problem,
                                                          const PlanOptions& options, OutOfCore how,
                                                          Index most_panel_cols,
                                                          bool is_panel_major);
  std::optional<OutOfCoreForecast> (*forecast_out_of_core_spmm)(
      const std::string& kernel, const SpmmProblem& problem, std::uint64_t limit_bytes, int threads,
      OutOfCore how, Index most_panel_cols, bool is_panel_major);
  SpgemmForecast (*forecast_spgemm)(const std::string& kernel, const SpgemmProblem& problem,
                                    Offset output_nnz, std::uint64_t limit_bytes);
  DeviceInfo (*device_info)(int ordinal);
  std::vector<double> (*copy_seconds)(Offset bytes, int ordinal);
  /// A ClockReader's read(), to be called as often as wanted.
  std::function<DeviceClocks()> (*clock_reader)(int ordinal);
  SumTimes (*fill_sums)(const CsrMatrix& matrix, const SummedAreaTable& grid, Offset* sums,
                        int device, std::uint64_t memory_limit_bytes);
  DeviceRankMakers ranks;
};

/// The library's only entry point: its name and type.
inline constexpr char kFaceEntry[] = "csrkit_gpu_face";
using FaceEntry = const Face*();

}  // namespace csrkit::gpu

/// The entry point. Its result is never null.
extern "C" const csrkit::gpu::Face* csrkit_gpu_face();
