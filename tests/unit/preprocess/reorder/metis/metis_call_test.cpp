#ifdef CSRKIT_HAVE_METIS
#include "preprocess/reorder/metis/metis_call.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit::reorder {
namespace {

/// While it lives, METIS runs in another program: a line of shell.
class HelperIs {
 public:
  explicit HelperIs(const std::string& line)
      : path_(testing::TempDir() + "helper_" + std::to_string(getpid()) + ".sh") {
    std::ofstream(path_) << "#!/bin/sh\n" << line << '\n';
    chmod(path_.c_str(), 0700);
    setenv("CSRKIT_METIS_HELPER", path_.c_str(), 1);
  }
  ~HelperIs() {
    unsetenv("CSRKIT_METIS_HELPER");
    unlink(path_.c_str());
  }
  HelperIs(const HelperIs&) = delete;
  HelperIs& operator=(const HelperIs&) = delete;

 private:
  std::string path_;
};

/// Lets the helper do a small job, with a limit in seconds or "none".
void run(const std::string& time_limit = "none") {
  const Parameters parameters("the test", find_reorder_method("metis-nested-dissection").parameters,
                              {{"time-limit", time_limit}});
  run_metis("METIS_NodeND", MetisJob(test::grid(4, 4)), {parameters, 1, {}});
}

/// The message of the exception of type E that `line` as helper ends in.
template <class E>
std::string failure(const std::string& line) {
  const HelperIs helper(line);
  try {
    run();
  } catch (const E& error) {
    return error.what();
  }
  return "no failure";
}

/// A line that says that METIS has returned, with this status.
std::string returns(std::int64_t status) {
  MetisExchange exchange;
  exchange.is_finished = 1;
  exchange.status = status;
  unsigned char bytes[sizeof exchange];
  std::memcpy(bytes, static_cast<const void*>(&exchange), sizeof bytes);
  std::string line = "printf '";
  char octal[8];
  for (const unsigned char byte : bytes) {
    std::snprintf(octal, sizeof octal, "\\%03o", byte);
    line += octal;
  }
  return line + "' >&3";
}

TEST(MetisCall, SuccessIsQuiet) {
  EXPECT_NO_THROW(run());
  EXPECT_EQ(failure<Error>(returns(METIS_OK)), "no failure");
}

TEST(MetisCall, ACrashIsAnErrorThatSaysWhatToTry) {
  const std::string message = failure<Error>("kill -SEGV $$");
  EXPECT_EQ(message.rfind("METIS_NodeND was stopped by signal 11 (Segmentation fault)", 0), 0u)
      << message;
  EXPECT_NE(message.find("try the method rcm or degree"), std::string::npos) << message;
}

TEST(MetisCall, KilledMeansOutOfMemory) {
  const std::string message = failure<MemoryError>("kill -KILL $$");
  EXPECT_NE(message.find("signal 9"), std::string::npos) << message;
}

TEST(MetisCall, EveryStatusButOkIsAnError) {
  EXPECT_NE(failure<Error>(returns(METIS_ERROR_INPUT)).find("METIS_ERROR_INPUT"),
            std::string::npos);
  EXPECT_NE(failure<MemoryError>(returns(METIS_ERROR_MEMORY)).find("METIS_ERROR_MEMORY"),
            std::string::npos);
  EXPECT_NE(failure<Error>(returns(METIS_ERROR)).find("status -4"), std::string::npos);
  EXPECT_NE(failure<Error>(returns(0)).find("status 0"), std::string::npos);
}

TEST(MetisCall, WhatMetisSaidIsQuotedOnOneLine) {
  const std::string message = failure<Error>("echo; echo 'Input Error: bad'; echo ' weights.'");
  EXPECT_NE(message.find("it said: Input Error: bad  weights."), std::string::npos) << message;
}

TEST(MetisCall, LeavingEarlyIsAnError) {
  EXPECT_NE(failure<Error>("exit 0").find("left its process early"), std::string::npos);
}

TEST(MetisCall, TheTimeLimitEndsItAndLeavesNoChild) {
  const HelperIs helper("exec sleep 100");
  try {
    run("0.05");
    FAIL() << "was not ended";
  } catch (const MemoryError& error) {
    FAIL() << "its own end was taken for a lack of memory: " << error.what();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("time limit of 0.05 seconds"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left, perhaps a zombie";
}

TEST(MetisCall, AHelperThatIsMissingIsNamed) {
  setenv("CSRKIT_METIS_HELPER", "/nowhere/csrkit-metis", 1);
  try {
    run();
    ADD_FAILURE() << "was started";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("'/nowhere/csrkit-metis' cannot be started"),
              std::string::npos)
        << error.what();
  }
  unsetenv("CSRKIT_METIS_HELPER");
  EXPECT_EQ(access(metis_helper().c_str(), X_OK), 0);
}

TEST(MetisCall, TheHelperRefusesWhatItWasNotMadeFor) {
  const std::string helper = metis_helper();
  const SharedMemory other(4096);
  EXPECT_NE(run_program("work", helper, other).output.find("of another build"), std::string::npos);
  const SharedMemory small(1);
  EXPECT_NE(run_program("work", helper, small).output.find("is started by libcsrkit"),
            std::string::npos);
}

std::atomic<int> forks{0};

TEST(MetisCall, ThreadsReorderAtOnceAndTheirProcessIsNotCopied) {
  pthread_atfork([] { ++forks; }, nullptr, nullptr);
  const CsrMatrix matrix = test::grid(30, 30);
  const Permutation expected = make_ordering("metis-nested-dissection", matrix).order;
  std::vector<std::thread> threads;
  std::atomic<int> same{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Permutation order = make_ordering("metis-nested-dissection", matrix).order;
      same +=
          std::equal(order.new_of_old(), order.new_of_old() + order.size(), expected.new_of_old());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 4);
  EXPECT_EQ(forks, 0);
}

TEST(MetisCall, AMatrixBeyondItsIntegersIsRefusedBeforeAnythingIsAllocated) {
  if (sizeof(idx_t) > sizeof(Index)) GTEST_SKIP() << "this METIS counts in 64 bits";
  // Three thousand million entries are claimed and none is there: touching one would crash.
  static const Offset offsets[] = {0, 1500000000, 3000000000};
  const CsrMatrix claimed(2, 2, offsets, nullptr, ValueKind::none, nullptr, nullptr);
  EXPECT_THROW(make_ordering("metis-nested-dissection", claimed), UsageError);
  try {
    const MetisJob job(claimed);
    FAIL() << "was accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("is 2999999998"), std::string::npos) << error.what();
  }
}

TEST(MetisCall, SeedsFitMetisAndKeepTheirDifference) {
  EXPECT_EQ(metis_seed(1), 4321);  // what METIS's own tools take
  EXPECT_EQ(metis_seed(0), 4320);
  EXPECT_GE(metis_seed(2147483647), 0);
  EXPECT_GE(metis_seed(2147483647 - 4321), 0);
  EXPECT_GE(metis_seed(1ull << 40), 0);
  EXPECT_NE(metis_seed(1ull << 40), metis_seed((1ull << 40) + 1));
}

}  // namespace
}  // namespace csrkit::reorder
#endif
