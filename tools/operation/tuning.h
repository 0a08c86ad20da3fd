// --tune: the kernels that users run, measured on the very matrix, and the fastest remembered in a
// file.
#pragma once

#include <string>

#include "tools/operation/product/operation.h"

namespace csrkit {

/// What is to be tuned, and where.
struct TuningCase {
  const Operation* operation = nullptr;
  std::string room;
  Operands operands;
  Request request;
  std::string matrix_xxh3_128;  // digest of A's file
  std::string device;           // what the kernels run on: a model, with threads if they matter
};

/// When two cases are the same one: what tuning and saved plans are kept under. Matrix, problem,
/// determinism, room, device and version of csrkit.
Json case_key(const TuningCase& asked);

struct TunedKernel {
  NamedKernel kernel;
  std::string because;  // "tuned: row_bins was the fastest of 3 kernels", for reports
};

/// The fastest production kernel for the case: the remembered one if the JSON file `cache`, made if
/// it does not exist, knows the case and the state of the caches, else all are measured, in all
/// their variants, and the fastest is remembered. A kernel that cannot run on this matrix or for
/// lack of memory is out of the race; if none can, throws what the last one threw. Throws
/// InputError for a file that is no tuning cache. Of two processes that tune into one file at the
/// same moment one may lose its result, never the file.
TunedKernel tuned_kernel(const std::string& cache, const TuningCase& asked);

/// Throws InputError if `cache` exists and is no tuning cache: before hours are spent.
void require_tuning_cache(const std::string& cache);

}  // namespace csrkit
