#include "core/contract/plan.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace csrkit
