// --tune: the kernels that users run, measured on the very matrix, and the fastest remembered in a file.
#pragma once

#include <string>

#include "tools/support/kernel_room.h"
#include "tools/support/multiply_flow.h"
#include "tools/support/problem_key.h"

namespace csrkit {

struct TunedKernel {
  const SpmmKernel* kernel;
  std::string because;       // "tuned: row_bins was the fastest of 3 kernels", for reports
  std::string variant = {};  // for PlanOptions::variant
};

/// The fastest production kernel of `room` for multiplying `a` as `request` says: the remembered one
/// if the JSON file `cache`, made if it does not exist, knows this problem_key and state of the
/// caches, else all are measured, in all their variants, and the fastest is remembered. A kernel that cannot run for lack of
/// memory is out of the race; if none can, throws what the last one threw. Throws InputError for a
/// file that is no tuning cache. Of two processes that tune into one file at the same moment one may
/// lose its result, never the file.
TunedKernel tuned_kernel(const std::string& cache, const ProblemPlace& place,
                         const KernelRoom& room, const CsrMatrix& a,
                         const MultiplyRequest& request);

/// Throws InputError if `cache` exists and is no tuning cache: before hours are spent.
void require_tuning_cache(const std::string& cache);

}  // namespace csrkit
