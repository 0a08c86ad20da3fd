#include "preprocess/reorder/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "core/base/error.h"

namespace csrkit::reorder {
namespace {

bool has_no_children() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

/// 'R', 'S', 'Z', ... or 0 if there is no such process.
char state_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t close = text.rfind(')');
  return close == std::string::npos || close + 2 >= text.size() ? '\0' : text[close + 2];
}

TEST(ChildProcess, HandsBackItsResultAndWhatItWrote) {
  const SharedMemory memory(3 * sizeof(int));
  const ChildOutcome outcome = run_in_child("work", [&] {
    for (int i = 0; i < 3; ++i) memory.as<int>()[i] = i + 7;
    return -5;
  });
  EXPECT_TRUE(outcome.is_finished);
  EXPECT_EQ(outcome.result, -5);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(memory.as<int>()[2], 9);
  EXPECT_TRUE(has_no_children());
}

TEST(ChildProcess, KeepsOrdinaryMemoryOfTheParentAsItWas) {
  int local = 1;
  run_in_child("work", [&] { return local = 2; });
  EXPECT_EQ(local, 1);
}

TEST(ChildProcess, ReportsTheSignalThatStoppedIt) {
  for (const int number : {SIGSEGV, SIGABRT, SIGKILL, SIGTERM, SIGINT, SIGFPE}) {
    const ChildOutcome outcome = run_in_child("work", [&] { return raise(number); });
    EXPECT_FALSE(outcome.is_finished);
    EXPECT_EQ(outcome.signal, number);
    EXPECT_TRUE(has_no_children());
  }
}

TEST(ChildProcess, ARealFaultEndsItAndNotItsParent) {
  const ChildOutcome outcome = run_in_child("work", [] {
    int* volatile nowhere = nullptr;
    return *nowhere;
  });
  EXPECT_FALSE(outcome.is_finished);  // by a signal, or by exit() where sanitizers catch the fault
}

SharedMemory* exit_marks = nullptr;

TEST(ChildProcess, RunsNoExitHandlerOfTheParent) {
  static SharedMemory marks(sizeof(int));
  exit_marks = &marks;
  std::atexit([] { *exit_marks->as<int>() += 1; });
  EXPECT_FALSE(run_in_child("work", []() -> int { std::exit(0); }).is_finished);
  EXPECT_TRUE(run_in_child("work", [] { return 0; }).is_finished);
  EXPECT_EQ(*marks.as<int>(), 0);
}

volatile sig_atomic_t* handled = nullptr;

TEST(ChildProcess, RunsNoSignalHandlerOfTheParent) {
  const SharedMemory count(sizeof(sig_atomic_t));
  handled = count.as<volatile sig_atomic_t>();
  const auto before = signal(SIGTERM, [](int) { *handled = 1; });
  EXPECT_EQ(run_in_child("work", [] { return raise(SIGTERM); }).signal, SIGTERM);
  EXPECT_EQ(*handled, 0);
  raise(SIGTERM);  // and the parent still has its own
  EXPECT_EQ(*handled, 1);
  signal(SIGTERM, before);
}

TEST(ChildProcess, IgnoresWhatItsParentIgnores) {
  const auto before = signal(SIGHUP, SIG_IGN);  // as under nohup
  const ChildOutcome outcome = run_in_child("work", [] { return raise(SIGHUP) + 5; });
  signal(SIGHUP, before);
  EXPECT_TRUE(outcome.is_finished);
  EXPECT_EQ(outcome.result, 5);
}

TEST(ChildProcess, IsSilentAndItsLastWordsAreKept) {
  testing::internal::CaptureStdout();
  std::printf("mine, once");  // not flushed when the child is made
  const ChildOutcome quiet = run_in_child("work", [] {
    std::printf("noise");
    return 0;
  });
  const ChildOutcome loud = run_in_child("work", [] {
    std::printf("so it went: %s\n", std::string(2000, '.').c_str());
    std::fprintf(stderr, "the reason");
    return raise(SIGABRT);
  });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "mine, once");
  EXPECT_EQ(quiet.output, "noise");
  EXPECT_EQ(loud.output.size(), 512u);
  EXPECT_EQ(loud.output.substr(502), "the reason");
}

TEST(ChildProcess, AnExceptionInTheWorkIsItsLastWord) {
  const ChildOutcome outcome =
      run_in_child("work", []() -> int { throw std::runtime_error("out of ideas"); });
  EXPECT_FALSE(outcome.is_finished);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.output, "out of ideas");
}

TEST(ChildProcess, IsEndedAndCollectedIfTheParentThrows) {
  const SharedMemory memory(sizeof(pid_t));
  const auto tired = [](const char* phase, std::uint64_t, std::uint64_t) {
    EXPECT_STREQ(phase, "work");
    throw Error("tired of waiting");
  };
  EXPECT_THROW(run_in_child(
                   "work",
                   [&] {
                     *memory.as<pid_t>() = getpid();
                     return pause();
                   },
                   tired),
               Error);
  EXPECT_TRUE(has_no_children());
  EXPECT_EQ(state_of(*memory.as<pid_t>()), '\0');
}

TEST(ChildProcess, IsTheFirstToGoWhenMemoryRunsOut) {
  const auto score = [] {
    int number = -1;
    std::ifstream("/proc/self/oom_score_adj") >> number;
    return number;
  };
  const int before = score();
  EXPECT_EQ(run_in_child("work", score).result, 1000);
  EXPECT_EQ(score(), before);
}

TEST(ChildProcess, DiesWithItsParent) {
  const SharedMemory memory(sizeof(std::atomic<pid_t>));
  auto* grandchild = memory.as<std::atomic<pid_t>>();
  const pid_t middle = fork();
  if (middle == 0) {
    run_in_child("work", [&] {
      *grandchild = getpid();
      return pause();
    });
    _exit(0);
  }
  const auto soon = [](auto&& is_so) {
    for (int tries = 0; tries < 2000 && !is_so(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return is_so();
  };
  ASSERT_TRUE(soon([&] { return *grandchild != 0; }));
  kill(middle, SIGKILL);
  waitpid(middle, nullptr, 0);
  // Where nobody collects orphans it stays a zombie, which is dead enough.
  EXPECT_TRUE(soon([&] {
    const char state = state_of(*grandchild);
    return state == '\0' || state == 'Z' || state == 'X';
  }));
}

TEST(ChildProcess, SignalsToTheParentDoNotDisturbTheWait) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, &before);  // without SA_RESTART: every wait is interrupted
  const itimerval every_millisecond{{0, 1000}, {0, 1000}}, never{};
  setitimer(ITIMER_REAL, &every_millisecond, nullptr);
  const ChildOutcome outcome = run_in_child("work", [] {
    usleep(100000);
    return 3;
  });
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(outcome.is_finished);
  EXPECT_EQ(outcome.result, 3);
}

TEST(ChildProcess, AParentThatIgnoresItsChildrenStillGetsTheResult) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const ChildOutcome finished = run_in_child("work", [] { return 4; });
  const ChildOutcome failed = run_in_child("work", [] { return raise(SIGSEGV); });
  signal(SIGCHLD, before);
  EXPECT_TRUE(finished.is_finished);
  EXPECT_EQ(finished.result, 4);
  EXPECT_FALSE(failed.is_finished);
}

}  // namespace
}  // namespace csrkit::reorder
