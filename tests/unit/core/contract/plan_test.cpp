#include "core/contract/plan.h"

#include <gtest/gtest.h>

#include "core/base/team.h"

namespace csrkit {
namespace {

TEST(Schedule, NamesRoundTripAndRefuse) {
  for (const Schedule schedule :
       {Schedule::automatic, Schedule::static_, Schedule::dynamic, Schedule::guided}) {
    EXPECT_EQ(parse_schedule(name_of(schedule)), schedule);
  }
  try {
    parse_schedule("fair");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "'fair' is no schedule; use one of auto, static, dynamic, guided");
  }
}

TEST(PlanOptions, NeedWhatTheyAskFor) {
  PlanOptions options;
  EXPECT_EQ(needed_for(options), kDeterministic);
  options.deterministic = false;
  EXPECT_EQ(needed_for(options), 0u);
  options.where.chunk = 1;
  EXPECT_EQ(needed_for(options), kSchedule);
  const SavedAnalysis saved;
  options.saved = &saved;
  EXPECT_EQ(needed_for(options), kSchedule | kSavedAnalysis);
}

TEST(PlanOptions, NegativeNumbersAreRefused) {
  for (int Execution::*member : {&Execution::threads, &Execution::chunk, &Execution::device}) {
    PlanOptions options;
    options.where.*member = -1;
    EXPECT_THROW(require_sensible(options), UsageError);
  }
}

// libgomp would run out of stack, which ends the process.
TEST(PlanOptions, MoreThreadsThanLibgompCanStartAreRefused) {
  PlanOptions options;
  options.where.threads = kMaxThreads;
  EXPECT_NO_THROW(require_sensible(options));
  options.where.threads = kMaxThreads + 1;
  try {
    require_sensible(options);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "threads is 4097; it must be at most 4096");
  }
}

}  // namespace
}  // namespace csrkit
