#include "preprocess/reorder/metis/child_process.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace csrkit::reorder {
namespace {

bool has_no_children() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

/// A program whose work is a line of shell; descriptor 3 is the shared memory.
class Program {
 public:
  explicit Program(const std::string& line) {
    static std::atomic<int> count{0};
    path_ = testing::TempDir() + "child_" + std::to_string(getpid()) + "_" +
            std::to_string(++count) + ".sh";
    std::ofstream(path_) << "#!/bin/sh\n" << line << '\n';
    chmod(path_.c_str(), 0700);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

ChildOutcome run(const std::string& line, const SharedMemory& memory = SharedMemory(64),
                 double limit_seconds = 0) {
  return run_program("work", Program(line).path(), memory, {}, limit_seconds);
}

TEST(ChildProcess, LeavesItsResultInSharedMemory) {
  const SharedMemory memory(64);
  memory.as<char>()[9] = '?';
  const ChildOutcome outcome = run("printf 'done' >&3", memory);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_FALSE(outcome.is_late);
  EXPECT_STREQ(memory.as<char>(), "done");
  EXPECT_EQ(memory.as<char>()[9], '?');
  EXPECT_TRUE(has_no_children());
}

TEST(ChildProcess, ReportsTheSignalThatStoppedIt) {
  for (const int number : {SIGSEGV, SIGABRT, SIGKILL, SIGTERM, SIGINT, SIGFPE}) {
    EXPECT_EQ(run("kill -" + std::to_string(number) + " $$").signal, number);
    EXPECT_TRUE(has_no_children());
  }
}

TEST(ChildProcess, AProgramThatIsNotThereIsNamed) {
  const SharedMemory memory(1);
  try {
    run_program("work", "/nowhere/csrkit-metis", memory);
    FAIL() << "was started";
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(),
                 "'/nowhere/csrkit-metis' cannot be started for work: No such file or directory");
  }
}

std::atomic<int> forks{0};

TEST(ChildProcess, TooFewDescriptorsAreTheSystemsRefusal) {
  const SharedMemory memory(1);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 4;
  setrlimit(RLIMIT_NOFILE, &few);
  EXPECT_THROW(run_program("work", "/nowhere/csrkit-metis", memory), IoError);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(ChildProcess, TheCallersProcessIsNotCopied) {
  pthread_atfork([] { ++forks; }, nullptr, nullptr);
  run("exit 0");
  EXPECT_EQ(forks, 0);
}

TEST(ChildProcess, ManyThreadsMayStartSomeAtOnce) {
  // A child has its caller's open files until it begins its program, and no program can be started
  // that somebody has open for writing: so all are written before the first is started.
  std::deque<Program> programs;
  for (int i = 0; i < 8; ++i) programs.emplace_back("printf thread" + std::to_string(i) + " >&3");
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i, &right, &programs] {
      const SharedMemory memory(64);
      run_program("work", programs[static_cast<std::size_t>(i)].path(), memory, {}, 0);
      right += "thread" + std::to_string(i) == memory.as<char>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_TRUE(has_no_children());
}

TEST(ChildProcess, HasItsFilesAndNoOthersInTheWay) {
  // Where the caller's own streams are closed, new descriptors get their numbers.
  const int saved = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  const SharedMemory memory(64);
  const ChildOutcome outcome = run("printf 'done' >&3; cat; echo heard", memory);
  dup2(saved, STDIN_FILENO);
  close(saved);
  EXPECT_STREQ(memory.as<char>(), "done");
  EXPECT_EQ(outcome.output, "heard\n");
}

TEST(ChildProcess, IgnoresWhatItsParentIgnoresAndNothingElse) {
  const auto before = signal(SIGHUP, SIG_IGN);  // as under nohup
  const auto handled = signal(SIGTERM, [](int) {});
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  const ChildOutcome ignoring = run("kill -HUP $$; echo alive");
  const ChildOutcome ended = run("kill -TERM $$; echo alive");
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  signal(SIGHUP, before);
  signal(SIGTERM, handled);
  EXPECT_EQ(ignoring.output, "alive\n");
  EXPECT_EQ(ended.signal, SIGTERM);
}

TEST(ChildProcess, IsSilentAndItsLastWordsAreKept) {
  testing::internal::CaptureStdout();
  const ChildOutcome quiet = run("printf noise");
  const ChildOutcome loud = run("printf 'so it went: %02000d' 0; printf 'the reason' >&2; exit 1");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(quiet.output, "noise");
  EXPECT_EQ(loud.output.size(), 512u);
  EXPECT_EQ(loud.output.substr(502), "the reason");
}

TEST(ChildProcess, IsEndedAtItsTimeLimit) {
  const ChildOutcome outcome = run("exec sleep 100", SharedMemory(1), 0.05);
  EXPECT_TRUE(outcome.is_late);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_TRUE(has_no_children());
}

TEST(ChildProcess, IsEndedAndCollectedIfTheParentThrows) {
  const SharedMemory memory(64);
  const auto tired = [](const char* phase, std::uint64_t, std::uint64_t) {
    EXPECT_STREQ(phase, "work");
    throw Error("tired of waiting");
  };
  EXPECT_THROW(run_program("work", Program("printf $$ >&3; exec sleep 100").path(), memory, tired),
               Error);
  EXPECT_TRUE(has_no_children());
  EXPECT_NE(kill(std::stoi(memory.as<char>()), 0), 0);
}

TEST(ChildProcess, SignalsToTheParentDoNotDisturbTheWait) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, &before);  // without SA_RESTART: every wait is interrupted
  const itimerval every_millisecond{{0, 1000}, {0, 1000}}, never{};
  setitimer(ITIMER_REAL, &every_millisecond, nullptr);
  const ChildOutcome outcome = run("sleep 0.1; echo slept");
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(outcome.output, "slept\n");
}

TEST(ChildProcess, AParentThatIgnoresItsChildrenStillGetsTheResult) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const SharedMemory memory(64);
  run("printf done >&3", memory);
  signal(SIGCHLD, before);
  EXPECT_STREQ(memory.as<char>(), "done");
}

TEST(SharedMemory, IsZeroAndRefusedWhereFilesMayNotBeThatLarge) {
  const SharedMemory memory(1 << 16);
  for (int i = 0; i < 1 << 16; ++i) ASSERT_EQ(memory.as<char>()[i], 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(SharedMemory(1 << 16), MemoryError);  // and no signal
  setrlimit(RLIMIT_FSIZE, &before);
}

}  // namespace
}  // namespace csrkit::reorder
