// Calls METIS in the program csrkit-metis, on a copy of the graph in METIS's own integers.
#pragma once

#include <memory>
#include <string>

#include "preprocess/reorder/method.h"
#include "preprocess/reorder/metis/child_process.h"
#include "preprocess/reorder/metis/metis_exchange.h"

namespace csrkit::reorder {

/// A task for METIS, its graph, and afterwards its result, in memory shared with csrkit-metis.
class MetisJob {
 public:
  /// The graph of A + A^T. Throws UsageError if METIS's integers are too narrow, MemoryError if the
  /// graph and METIS's own arrays will not fit.
  explicit MetisJob(const CsrMatrix& matrix);

  MetisExchange& exchange() const { return *memory_->as<MetisExchange>(); }
  const SharedMemory& memory() const { return *memory_; }

 private:
  std::unique_ptr<SharedMemory> memory_;
};

/// The seed folded into the bits that METIS has for it.
std::int64_t metis_seed(std::uint64_t seed);

/// The path of csrkit-metis: the environment's CSRKIT_METIS_HELPER, else where it is installed,
/// beside this library. Throws IoError if it is not there.
std::string metis_helper();

/// Lets METIS do the job. Throws Error (or MemoryError) that names `call` and says how it ended
/// unless METIS says METIS_OK. Of `request`, the seed, the parameter time-limit and the progress
/// callback count.
void run_metis(const char* call, const MetisJob& job, const MethodRequest& request);

}  // namespace csrkit::reorder
