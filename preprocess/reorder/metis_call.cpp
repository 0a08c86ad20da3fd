#include "preprocess/reorder/metis_call.h"

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "core/base/available_memory.h"
#include "core/base/hash.h"
#include "preprocess/reorder/child_process.h"

namespace csrkit::reorder {

namespace {

constexpr const char* kAdvice = "try the method rcm or degree, which need far less";
constexpr const char* kEntriesFit =
    "METIS was built with narrow integers (use rcm or degree, or a METIS with 64-bit idx_t): the "
    "number of entries of A + A^T";

// The least memory that METIS was seen to take (on meshes), so that the forecast refuses only what
// cannot work. Graphs that do not coarsen well (R-MAT) take up to 60 bytes per entry. If that is
// too much, the system ends the child process, and run_metis says so.
constexpr std::uint64_t kMetisBytesPerEntry = 10;
constexpr std::uint64_t kMetisBytesPerVertex = 16;

std::string ending_of(const ChildOutcome& outcome) {
  if (outcome.signal != 0) {
    return "was stopped by signal " + std::to_string(outcome.signal) + " (" +
           strsignal(outcome.signal) + ")";
  }
  if (!outcome.is_finished) return "left its process early";
  switch (outcome.result) {
    case METIS_ERROR_INPUT: return "refused its input (METIS_ERROR_INPUT)";
    case METIS_ERROR_MEMORY: return "ran out of memory (METIS_ERROR_MEMORY)";
    default: return "failed with status " + std::to_string(outcome.result);
  }
}

/// One line, whatever METIS printed.
std::string quoted(std::string output) {
  for (char& c : output) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  output.erase(0, std::min(output.find_first_not_of(' '), output.size()));
  output.erase(output.find_last_not_of(' ') + 1);
  return output.empty() ? output : "; it said: " + output;
}

}  // namespace

idx_t* MetisGraph::adjncy_pointer() {
  if constexpr (std::is_same_v<idx_t, Index>) {
    return graph.neighbours.data();
  } else {
    return wide_neighbours.data();
  }
}

MetisGraph make_metis_graph(const CsrMatrix& matrix) {
  // A + A^T has no fewer entries than A, bar the diagonal: what cannot fit is refused at once.
  checked_cast<idx_t, UsageError>(std::max<Offset>(0, matrix.nnz() - matrix.rows()), kEntriesFit);
  const std::uint64_t n = static_cast<std::uint64_t>(matrix.rows());
  require_available_memory(static_cast<std::uint64_t>(matrix.nnz()) * sizeof(Index) +
                               n * (2 * sizeof(Offset) + kMetisBytesPerVertex),
                           "the graph of A + A^T for METIS", kAdvice);
  MetisGraph result;
  result.graph = build_adjacency(matrix, [&](Offset entries) {
    checked_cast<idx_t, UsageError>(entries, kEntriesFit);
    const std::uint64_t per_entry =
        sizeof(Index) + (std::is_same_v<idx_t, Index> ? 0 : sizeof(idx_t)) + kMetisBytesPerEntry;
    require_available_memory(static_cast<std::uint64_t>(entries) * per_entry +
                                 n * (sizeof(idx_t) + kMetisBytesPerVertex),
                             "METIS", kAdvice);
  });
  result.xadj = Buffer<idx_t>(result.graph.offsets.size());
  std::copy(result.graph.offsets.begin(), result.graph.offsets.end(), result.xadj.begin());
  if constexpr (!std::is_same_v<idx_t, Index>) {
    result.wide_neighbours = Buffer<idx_t>(result.graph.entries());
    std::copy(result.graph.neighbours.begin(), result.graph.neighbours.end(),
              result.wide_neighbours.begin());
  }
  return result;
}

MetisOptions metis_options(std::uint64_t seed) {
  MetisOptions options;
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_NUMBERING] = 0;
  // Our default, 1, is METIS's own seed where none is given, so that its tools give the same.
  constexpr std::uint64_t kOfMetis = 4321, kLargest = std::numeric_limits<std::int32_t>::max();
  const std::uint64_t shifted = seed + (kOfMetis - 1);
  options[METIS_OPTION_SEED] =
      static_cast<idx_t>(seed <= kLargest - kOfMetis ? shifted : mix64(seed) & kLargest);
  return options;
}

void run_metis(const char* call, const std::function<int()>& work, const MethodRequest& request) {
  const Parameters& given = request.parameters;
  const double limit_seconds = given.is_set("time-limit") ? given.number("time-limit") : 0;
  const ChildOutcome outcome = run_in_child(call, work, request.progress, limit_seconds);
  if (outcome.is_finished && outcome.result == METIS_OK) return;
  if (outcome.is_late) {
    throw Error(std::string(call) + " was ended after its time limit of " +
                given.text("time-limit") +
                " seconds; the input is unharmed: raise the limit, or try the method community, "
                "which takes a small part of that time");
  }
  const std::string message = std::string(call) + " " + ending_of(outcome) + quoted(outcome.output);
  // METIS says so before it ends itself, by a signal where it does not expect to run out.
  if (outcome.output.find("alloc") != std::string::npos) {
    throw MemoryError(message + "; " + kAdvice);
  }
  // Only the kernel, short of memory, has a reason to send SIGKILL to this child.
  if (outcome.signal == SIGKILL) {
    throw MemoryError(message + "; most likely memory ran out; " + kAdvice);
  }
  if (outcome.is_finished && outcome.result == METIS_ERROR_MEMORY) {
    throw MemoryError(message + "; " + kAdvice);
  }
  throw Error(message + "; the input is unharmed: try the method rcm or degree, or another seed");
}

}  // namespace csrkit::reorder
