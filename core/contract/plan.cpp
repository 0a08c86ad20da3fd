#include "core/contract/plan.h"

#include "core/base/team.h"
#include "core/contract/parse_name.h"

namespace csrkit {

const char* name_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::automatic: return "auto";
    case Schedule::static_: return "static";
    case Schedule::dynamic: return "dynamic";
    case Schedule::guided: return "guided";
  }
  return "?";
}

Schedule parse_schedule(const std::string& name) {
  return parse_name(name,
                    {Schedule::automatic, Schedule::static_, Schedule::dynamic, Schedule::guided},
                    "schedule");
}

Capabilities needed_for(const PlanOptions& options) {
  Capabilities needs = 0;
  if (options.deterministic) needs |= kDeterministic;
  if (options.where.schedule != Schedule::automatic || options.where.chunk != 0) needs |= kSchedule;
  if (options.saved != nullptr) needs |= kSavedAnalysis;
  return needs;
}

void require_sensible(const PlanOptions& options) {
  const auto require = [](int value, const char* what) {
    if (value >= 0) return;
    throw UsageError(std::string(what) + " is " + std::to_string(value) + "; it must be 0 or more");
  };
  require(options.where.threads, "threads");
  if (options.where.threads > kMaxThreads) {
    throw UsageError("threads is " + std::to_string(options.where.threads) +
                     "; it must be at most " + std::to_string(kMaxThreads));
  }
  require(options.where.chunk, "chunk");
  require(options.where.device, "device");
}

}  // namespace csrkit
