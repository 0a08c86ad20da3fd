#include "tools/bench/other_work.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

namespace csrkit {
namespace {

void spin(double seconds) {
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
  }
}

TEST(OtherWork, CountsOthersAndNotThisProcess) {
  OtherWork alone;
  EXPECT_TRUE(alone.finish()["cpus"].is_null()) << "too short";
  const pid_t other = fork();
  if (other == 0) {
    for (;;) {
    }
  }
  const OtherWork watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const Json beside = watch.finish();
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  if (beside["cpus"].is_null()) GTEST_SKIP() << "this system does not say";
  // It gets a CPU of its own at best, and a share of one on a machine that is crowded, where others
  // are busy all the more.
  EXPECT_GT(beside["cpus"].get<double>(), 0.5);
  EXPECT_TRUE(beside["load"].is_number());
}

TEST(OtherWork, SaysWhatOfItDisturbs) {
  EXPECT_EQ(disturbed_by({{"cpus", 0.4}, {"gpu_processes", 0}}), "");
  EXPECT_EQ(disturbed_by({{"cpus", nullptr}, {"gpu_processes", nullptr}}), "");
  EXPECT_EQ(disturbed_by({{"cpus", 1.26}, {"gpu_processes", nullptr}}), "1.3 CPUs");
  EXPECT_EQ(disturbed_by({{"cpus", 0.0}, {"gpu_processes", 1}}), "1 process on the GPU");
  EXPECT_EQ(disturbed_by({{"cpus", 2.0}, {"gpu_processes", 3}}),
            "2.0 CPUs and 3 processes on the GPU");
}

TEST(OtherWork, OwnWorkIsNotOthers) {
  const OtherWork idle;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const Json before = idle.finish();
  const OtherWork watch;
  spin(0.3);
  const Json after = watch.finish();
  if (before["cpus"].is_null()) GTEST_SKIP() << "this system does not say";
  const double cpus = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_LE(after["cpus"].get<double>(), cpus);
  EXPECT_GE(after["cpus"].get<double>(), 0);
}

}  // namespace
}  // namespace csrkit
