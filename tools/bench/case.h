// One case of a benchmark: what makes it the case it is, and its record. docs/benchmarking.md has
// the record's schema.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/file_digest.h"
#include "core/file/csr_file.h"
#include "tools/bench/clock_watch.h"
#include "tools/operation/product/operation.h"

namespace csrkit {

struct BenchKernel {
  NamedKernel named;
  /// Cache file, if this is `auto` and the fastest kernel of the room is to run; else "".
  std::string tune = {};
};

/// A matrix in memory, converted when a case asks for that.
class BenchMatrix {
 public:
  /// Reads, checks and digests the file in one pass.
  BenchMatrix(const std::string& path, const CsrReadOptions& read);
  const FileDigest& digest() const { return digest_; }
  /// The matrix in the kind asked for, as both operands.
  Operands operands(const Request& request);
  /// What was done to it since it was imported, from its provenance: an array of {"tool",
  /// "command_line", "inputs_xxh3_128", "order_seconds"}.
  const Json& history() const { return history_; }

 private:
  std::string name_;
  FileDigest digest_;
  CsrMatrix stored_;
  std::optional<CsrMatrix> converted_;
  Json history_;
};

/// Where and how cases are measured: the same for all cases of a run.
struct BenchPlace {
  Json machine;               // machine_facts(), with "gpu"
  ReadDeviceClocks read_gpu;  // empty without a GPU
  std::vector<std::string> command_line;
};

/// Everything that makes two measurements the same case. Records are resumed by it, and by
/// is_judged_enough, for a stricter judge does not make another case.
Json identity_of(const FileDigest& matrix, const BenchKernel& kernel, const Request& request,
                 const Json& machine);

/// A text that two identities share if they are the same, whatever the order of their keys.
std::string key_of(const Json& identity);

/// The request that a recorded identity was made of; the inverse of identity_of. Throws InputError
/// for an identity that lacks something or holds another type, UsageError for a word that is not
/// known.
Request request_of(const JsonField& identity);

/// A result nobody checked does not stand in for one that has to be right.
bool is_judged_enough(const JsonField& record, CheckKind asked);

/// Throws InputError unless the record of a finished case holds what measuring it again needs: all
/// of its identity, the matrix, the samples and their median.
void require_repeatable(const JsonField& record);

/// Throws InputError unless the record of a finished case holds the results that a table shows.
void require_results(const JsonField& record);

/// In which ways a case is no plain product: "transposed, min-plus", or "".
std::string how_cell(const Json& identity);

/// "karate.csr: cpu.spmm.auto, K 8, warm, f32, transposed": how messages name a case.
std::string name_of_case(const Json& record);

}  // namespace csrkit
