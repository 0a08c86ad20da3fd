// Kernels by the names people type: "cpu.spmm.nnz_balanced", and shorter where the tool implies it.
#pragma once

#include <string>
#include <vector>

#include "core/spmm.h"

namespace csrkit {

/// One registry under its prefix.
struct KernelRoom {
  std::string name;       // "cpu" or "gpu"
  std::string operation;  // "spmm"
  const std::vector<SpmmKernel>* table = nullptr;

  std::string full_name(const SpmmKernel& kernel) const;
  /// Accepts "cpu.spmm.x", "cpu.x" and "x". Throws UsageError that lists the names.
  const SpmmKernel& find(const std::string& name) const;
};

/// Kernels and marks.
KernelRoom cpu_spmm_room();

/// "f32 f64 transpose ..." for lists.
std::string capability_names(Capabilities capabilities);

/// The kernels of all rooms as a table or as JSON.
std::string list_kernels(const std::vector<KernelRoom>& rooms, bool as_json);

}  // namespace csrkit
