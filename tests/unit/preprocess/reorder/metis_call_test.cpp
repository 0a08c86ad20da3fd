#ifdef CSRKIT_HAVE_METIS
#include "preprocess/reorder/metis_call.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit::reorder {
namespace {

/// Runs `work` as METIS_NodeND, with a limit in seconds or "none".
void run(const std::function<int()>& work, const std::string& time_limit = "none") {
  const Parameters parameters("the test", find_reorder_method("metis-nested-dissection").parameters,
                              {{"time-limit", time_limit}});
  run_metis("METIS_NodeND", work, {parameters, 1, {}});
}

/// The message of the exception of type E that running `work` as METIS_NodeND ends in.
template <class E, class Work>
std::string failure(Work&& work) {
  try {
    run(work);
  } catch (const E& error) {
    return error.what();
  }
  return "no failure";
}

TEST(MetisCall, SuccessIsQuiet) {
  EXPECT_NO_THROW(run([] { return METIS_OK; }));
}

TEST(MetisCall, ACrashIsAnErrorThatSaysWhatToTry) {
  const std::string message = failure<Error>([] { return raise(SIGSEGV); });
  EXPECT_EQ(message.rfind("METIS_NodeND was stopped by signal 11 (Segmentation fault)", 0), 0u)
      << message;
  EXPECT_NE(message.find("try the method rcm or degree"), std::string::npos) << message;
}

TEST(MetisCall, KilledMeansOutOfMemory) {
  const std::string message = failure<MemoryError>([] { return raise(SIGKILL); });
  EXPECT_NE(message.find("signal 9"), std::string::npos) << message;
}

TEST(MetisCall, EveryStatusButOkIsAnError) {
  EXPECT_NE(failure<Error>([] { return METIS_ERROR_INPUT; }).find("METIS_ERROR_INPUT"),
            std::string::npos);
  EXPECT_NE(failure<MemoryError>([] { return METIS_ERROR_MEMORY; }).find("METIS_ERROR_MEMORY"),
            std::string::npos);
  EXPECT_NE(failure<Error>([] { return METIS_ERROR; }).find("status -4"), std::string::npos);
  EXPECT_NE(failure<Error>([] { return 0; }).find("status 0"), std::string::npos);
}

TEST(MetisCall, WhatMetisSaidIsQuotedOnOneLine) {
  const std::string message = failure<Error>([] {
    std::printf("\nInput Error: bad\n weights.\n");
    return METIS_ERROR_INPUT;
  });
  EXPECT_NE(message.find("it said: Input Error: bad  weights."), std::string::npos) << message;
}

TEST(MetisCall, LeavingEarlyIsAnError) {
  EXPECT_NE(failure<Error>([]() -> int { std::exit(0); }).find("left its process early"),
            std::string::npos);
}

TEST(MetisCall, TheTimeLimitEndsItAndLeavesNoChild) {
  try {
    run(
        [] {
          sleep(100);
          return METIS_OK;
        },
        "0.05");
    FAIL() << "was not ended";
  } catch (const MemoryError& error) {
    FAIL() << "its own end was taken for a lack of memory: " << error.what();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("time limit of 0.05 seconds"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left, perhaps a zombie";
}

TEST(MetisCall, AMatrixBeyondItsIntegersIsRefusedBeforeAnythingIsAllocated) {
  if (sizeof(idx_t) > sizeof(Index)) GTEST_SKIP() << "this METIS counts in 64 bits";
  // Three thousand million entries are claimed and none is there: touching one would crash.
  static const Offset offsets[] = {0, 1500000000, 3000000000};
  const CsrMatrix claimed(2, 2, offsets, nullptr, ValueKind::none, nullptr, nullptr);
  EXPECT_THROW(make_ordering("metis-nested-dissection", claimed), UsageError);
  try {
    make_metis_graph(claimed);
    FAIL() << "was accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("is 2999999998"), std::string::npos) << error.what();
  }
}

TEST(MetisCall, SeedsFitMetisAndKeepTheirDifference) {
  const auto seed_of = [](std::uint64_t seed) { return metis_options(seed)[METIS_OPTION_SEED]; };
  EXPECT_EQ(seed_of(1), 4321);  // what METIS's own tools take
  EXPECT_EQ(seed_of(0), 4320);
  EXPECT_GE(seed_of(2147483647), 0);
  EXPECT_GE(seed_of(2147483647 - 4321), 0);
  EXPECT_GE(seed_of(1ull << 40), 0);
  EXPECT_NE(seed_of(1ull << 40), seed_of((1ull << 40) + 1));
}

}  // namespace
}  // namespace csrkit::reorder
#endif
