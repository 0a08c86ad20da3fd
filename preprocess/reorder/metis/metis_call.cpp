#include "preprocess/reorder/metis/metis_call.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <string>

#include "core/base/available_memory.h"
#include "core/base/hash.h"
#include "preprocess/reorder/adjacency.h"

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

std::string ending_of(const ChildOutcome& outcome, const MetisExchange& exchange) {
  if (exchange.is_finished == 0) {
    if (outcome.signal == 0) return "left its process early";
    return "was stopped by signal " + std::to_string(outcome.signal) + " (" +
           strsignal(outcome.signal) + ")";
  }
  switch (exchange.status) {
    case METIS_ERROR_INPUT: return "refused its input (METIS_ERROR_INPUT)";
    case METIS_ERROR_MEMORY: return "ran out of memory (METIS_ERROR_MEMORY)";
    default: return "failed with status " + std::to_string(exchange.status);
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

MetisJob::MetisJob(const CsrMatrix& matrix) {
  // A + A^T has no fewer entries than A, bar the diagonal: what cannot fit is refused at once.
  checked_cast<idx_t, UsageError>(std::max<Offset>(0, matrix.nnz() - matrix.rows()), kEntriesFit);
  const std::uint64_t n = static_cast<std::uint64_t>(matrix.rows());
  require_available_memory(static_cast<std::uint64_t>(matrix.nnz()) * sizeof(Index) +
                               n * (2 * sizeof(Offset) + kMetisBytesPerVertex),
                           "the graph of A + A^T for METIS", kAdvice);
  const Adjacency graph = build_adjacency(matrix, [&](Offset entries) {
    checked_cast<idx_t, UsageError>(entries, kEntriesFit);
    const std::uint64_t per_entry = sizeof(Index) + sizeof(idx_t) + kMetisBytesPerEntry;
    require_available_memory(static_cast<std::uint64_t>(entries) * per_entry +
                                 n * (3 * sizeof(idx_t) + kMetisBytesPerVertex),
                             "METIS", kAdvice);
  });
  memory_ = std::make_unique<SharedMemory>(MetisExchange::bytes(graph.vertices, graph.entries()));
  auto* const made = new (memory_->as<void>()) MetisExchange;
  made->vertices = graph.vertices;
  made->entries = graph.entries();
  std::copy(graph.offsets.begin(), graph.offsets.end(), made->xadj());
  std::copy(graph.neighbours.begin(), graph.neighbours.end(), made->adjncy());
}

std::int64_t metis_seed(std::uint64_t seed) {
  // Our default, 1, is METIS's own seed where none is given, so that its tools give the same.
  constexpr std::uint64_t kOfMetis = 4321, kLargest = std::numeric_limits<std::int32_t>::max();
  const std::uint64_t shifted = seed + (kOfMetis - 1);
  return static_cast<std::int64_t>(seed <= kLargest - kOfMetis ? shifted : mix64(seed) & kLargest);
}

std::string metis_helper() {
  if (const char* const given = std::getenv("CSRKIT_METIS_HELPER")) return given;
  namespace fs = std::filesystem;
  Dl_info here{};
  std::error_code unknown;  // then the program's own folder has to do
  fs::path library;
  if (dladdr(reinterpret_cast<const void*>(&metis_helper), &here) != 0) {
    library = fs::canonical(here.dli_fname, unknown);
  }
  if (library.empty()) library = fs::read_symlink("/proc/self/exe", unknown);
  // As installed; then as in build folders and in the Python package.
  std::string expected;
  for (const char* place : {CSRKIT_METIS_FROM_LIBRARY, "../libexec/csrkit/csrkit-metis"}) {
    const fs::path path = (library.parent_path() / place).lexically_normal();
    if (access(path.c_str(), X_OK) == 0) return path.string();
    if (expected.empty()) expected = path.string();
  }
  throw IoError("the program in which METIS runs is not at '" + expected +
                "', or may not be run; install csrkit whole, or name it in CSRKIT_METIS_HELPER");
}

void run_metis(const char* call, const MetisJob& job, const MethodRequest& request) {
  const Parameters& given = request.parameters;
  const double limit_seconds = given.is_set("time-limit") ? given.number("time-limit") : 0;
  MetisExchange& exchange = job.exchange();
  exchange.parent = getpid();
  exchange.seed = metis_seed(request.seed);
  const ChildOutcome outcome =
      run_program(call, metis_helper(), job.memory(), request.progress, limit_seconds);
  const bool is_finished = exchange.is_finished != 0;
  if (is_finished && exchange.status == METIS_OK) return;
  if (outcome.is_late && !is_finished) {
    throw Error(std::string(call) + " was ended after its time limit of " +
                given.text("time-limit") +
                " seconds; the input is unharmed: raise the limit, or try the method community, "
                "which takes a small part of that time");
  }
  const std::string message =
      std::string(call) + " " + ending_of(outcome, exchange) + quoted(outcome.output);
  // METIS says so before it ends itself, by a signal where it does not expect to run out.
  if (outcome.output.find("alloc") != std::string::npos) {
    throw MemoryError(message + "; " + kAdvice);
  }
  // Only the kernel, short of memory, has a reason to send SIGKILL to this child.
  if (outcome.signal == SIGKILL) {
    throw MemoryError(message + "; most likely memory ran out; " + kAdvice);
  }
  if (is_finished && exchange.status == METIS_ERROR_MEMORY) {
    throw MemoryError(message + "; " + kAdvice);
  }
  throw Error(message + "; the input is unharmed: try the method rcm or degree, or another seed");
}

}  // namespace csrkit::reorder
