// One case of a benchmark: what makes it the case it is, and its record. docs/benchmarking.md has the
// record's schema.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/file_digest.h"
#include "tools/support/clock_watch.h"
#include "tools/support/json.h"
#include "tools/support/kernel_room.h"
#include "tools/support/matrix_input.h"
#include "tools/support/multiply_flow.h"
#include "tools/support/spgemm_tool.h"

namespace csrkit {

/// All registries that there are.
struct BenchRooms {
  std::vector<KernelRoom> spmm;
  std::vector<SpgemmRoom> spgemm;
};

/// A kernel of either operation: `kernel` multiplies by dense operands, `spgemm` by the matrix
/// itself.
struct BenchKernel {
  std::string full_name;
  const SpmmKernel* kernel = nullptr;
  KernelRoom room = {};
  std::string tune =
      {};  // cache file, if this is `auto` and the fastest kernel of the room is to run

  const SpgemmKernel* spgemm = nullptr;

  bool needs_gpu() const;
  bool is_auto() const;
};

/// Accepts "cpu.spmm.x", "cpu.x" (which means spmm) and "cpu.spgemm.x". Throws UsageError that begins with `what`.
BenchKernel find_in_rooms(const BenchRooms& rooms, const std::string& name, const char* what);

/// A matrix, read when the first of its cases needs it, and converted when a case asks for that.
class BenchMatrix {
 public:
  /// Computes the digest: reads the file once.
  BenchMatrix(const std::string& path, const CsrReadOptions& read);
  /// For a file whose digest is known.
  BenchMatrix(FileDigest digest, const CsrReadOptions& read);
  const FileDigest& digest() const { return digest_; }
  const CsrMatrix& matrix(const MultiplyRequest& request);
  /// What was done to it since it was imported, from its provenance: an array of {"tool",
  /// "command_line", "inputs"}. Reading it reads the matrix.
  const Json& history();

 private:
  void read();

  FileDigest digest_;
  CsrReadOptions read_options_;
  std::optional<CsrMatrix> stored_, converted_;
  std::shared_ptr<const Json> history_;
};

/// Where and how cases are measured: the same for all cases of a run.
struct BenchPlace {
  Json machine;               // machine_facts(), with "gpu"
  ReadDeviceClocks read_gpu;  // empty without a GPU
  std::vector<std::string> command_line;
};

/// Everything that makes two measurements the same case. Records are resumed by it, and by
/// is_judged_enough, for a stricter judge does not make another case.
Json identity_of(const FileDigest& matrix, const BenchKernel& kernel,
                 const MultiplyRequest& request, const Json& machine);

/// The request that a recorded identity was made of; the inverse of identity_of.
MultiplyRequest request_of(const Json& identity);

/// A result nobody checked does not stand in for one that has to be right.
bool is_judged_enough(const Json& record, CheckKind asked);

/// Measures one case and makes its record, whatever happens in it. A kernel that fails is a result
/// ("status" says so); a matrix that cannot be read is not, and throws. `cold`, where the request is for
/// warm caches and a kernel that is not tuned: becomes the record of the same case with evicted caches,
/// measured by the same plan, which saves making, uploading and checking everything again.
Json record_case(BenchMatrix& matrix, const BenchKernel& kernel, const MultiplyRequest& request,
                 const BenchPlace& place, Json* cold = nullptr);

/// "karate.csr: cpu.spmm.auto, K 8, warm, f32": how messages name a case.
std::string name_of_case(const Json& record);

}  // namespace csrkit
