// What the plans of all operations share, and the options they are made with.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/contract/capability.h"

namespace csrkit {

/// How OpenMP loops hand out rows. `automatic` leaves the choice to the kernel.
enum class Schedule : std::uint8_t { automatic, static_, dynamic, guided };
const char* name_of(Schedule schedule);
Schedule parse_schedule(const std::string& name);

/// Where and how to run.
struct Execution {
  int threads = 0;                          // CPU: 0 = what OpenMP was told; see team_size
  Schedule schedule = Schedule::automatic;  // CPU: only for kernels with kSchedule
  int chunk = 0;                            // CPU: rows per chunk, 0 = the schedule's default
  int device = 0;                           // GPU: ordinal among the visible devices
  void* stream = nullptr;  // GPU: cudaStream_t to run in; null = one of the plan's own
};

/// What a plan derived from A, as bytes that only the same kernel of the same build understands.
using SavedAnalysis = std::vector<unsigned char>;

struct PlanOptions {
  bool deterministic = true;             // same bits in every run and for any number of threads
  std::uint64_t memory_limit_bytes = 0;  // of the memory the plan works in; 0 = what is free there
  Execution where;
  /// Replaces the analysis of A, if not null: from save_analysis of a plan of the same kernel, for
  /// an equal problem on an equal device. Only the size can be checked (UsageError).
  const SavedAnalysis* saved = nullptr;
  /// Kernel-specific tuning string, as listed by Kernel::variants; "" selects the default.
  std::string variant;
};

/// Phases with their names and seconds, in the order in which they happen, for reports.
using NamedSeconds = std::vector<std::pair<const char*, double>>;

/// A prepared operation. Owns everything derived from its operands. One thread at a time.
class Plan {
 public:
  virtual ~Plan() = default;

  /// Returns when all work asked for is done; throws the error of any that failed.
  virtual void wait() {}

  /// Makes the next run start with none of the operands in the last-level cache.
  virtual void evict_caches() = 0;

  /// What the plan decided, for reports: "row_parallel (because ...)", a vendor's algorithm,
  /// or "".
  virtual std::string choice() const { return {}; }

  /// The kernel that a chooser chose; "" if the kernel that was asked for runs itself.
  virtual std::string chosen_kernel() const { return {}; }

  /// For PlanOptions::saved; empty if the kernel keeps nothing (kSavedAnalysis). Waits.
  virtual SavedAnalysis save_analysis() { return {}; }
};

/// The capabilities that the options need.
Capabilities needed_for(const PlanOptions& options);

/// Throws UsageError for options that no plan can have (negative numbers).
void require_sensible(const PlanOptions& options);

}  // namespace csrkit
