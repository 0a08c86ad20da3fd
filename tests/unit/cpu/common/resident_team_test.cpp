// The resident team: every thread works once on everything, what one thread wrote the others see,
// and an exception ends the team and comes out.
#include "cpu/common/resident_team.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

namespace csrkit::cpu {
namespace {

/// Who took part in one piece of work: how often each thread came, of how many.
struct Attendance {
  std::vector<int> times = std::vector<int>(64, 0);
  std::vector<int> counts = std::vector<int>(64, 0);

  void come(int thread, int threads) {
    ++times.at(static_cast<std::size_t>(thread));
    counts.at(static_cast<std::size_t>(thread)) = threads;
  }
  /// All threads of a team of the same size, each once. Returns the size, 0 if it was otherwise.
  int complete() const {
    const int threads = counts[0];
    for (std::size_t n = 0; n < times.size(); ++n) {
      const bool is_one = n < static_cast<std::size_t>(threads);
      if (times[n] != (is_one ? 1 : 0) || counts[n] != (is_one ? threads : 0)) return 0;
    }
    return threads;
  }
};

TEST(InTeam, CallsEveryThreadOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    Attendance attendance;
    in_team(threads, [&](int thread, int count) { attendance.come(thread, count); });
    EXPECT_EQ(attendance.complete(), threads);
  }
}

TEST(InTeam, RunsOnTheResidentTeam) {
  ASSERT_EQ(ResidentTeam::current(), nullptr);
  for (const int threads : {1, 2, 5}) {
    int rounds = 0;
    ResidentTeam::lead(threads, [&] {
      const bool has_team = threads > 1 && threads <= omp_get_num_procs();
      ASSERT_EQ(ResidentTeam::current() != nullptr, has_team);
      for (; rounds < 1000; ++rounds) {
        Attendance attendance;
        in_team(threads, [&](int thread, int count) { attendance.come(thread, count); });
        ASSERT_EQ(attendance.complete(), threads);
      }
    });
    EXPECT_EQ(rounds, 1000);
    EXPECT_EQ(ResidentTeam::current(), nullptr);
  }
}

// Each round reads what other threads wrote in the one before.
TEST(InTeam, OrdersOneWorkBeforeTheNext) {
  constexpr Index kSize = 1000;
  constexpr int kRounds = 500;
  std::vector<int> from(kSize), to(kSize, -1);
  std::iota(from.begin(), from.end(), 0);
  ResidentTeam::lead(2, [&] {
    for (int round = 0; round < kRounds; ++round) {
      in_team(2, [&](int thread, int threads) {
        const Index end = begin_of_share(kSize, thread + 1, threads);
        for (Index i = begin_of_share(kSize, thread, threads); i < end; ++i) {
          to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>((i + 7) % kSize)] + 1;
        }
      });
      std::swap(from, to);
    }
  });
  for (int i = 0; i < kSize; ++i) {
    ASSERT_EQ(from[static_cast<std::size_t>(i)], (i + 7 * kRounds) % kSize + kRounds);
  }
}

TEST(ResidentTeam, EndsWithTheExceptionOfItsLeader) {
  EXPECT_THROW(ResidentTeam::lead(2, [] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(ResidentTeam::current(), nullptr);
  Attendance attendance;
  ResidentTeam::lead(
      2, [&] { in_team(2, [&](int thread, int count) { attendance.come(thread, count); }); });
  EXPECT_EQ(attendance.complete(), 2);
}

TEST(ResidentTeam, TakesOtherNumbersOfThreadsInRegionsOfOneThread) {
  ResidentTeam::lead(2, [] {
    std::atomic<int> calls{0};
    in_team(3, [&](int, int) { ++calls; });
    EXPECT_GE(calls, 1);
  });
}

TEST(BeginOfShare, CutsWithoutGaps) {
  for (const Index size : {Index{0}, Index{1}, Index{15}, Index{16}, Index{2147483647}}) {
    for (const int threads : {1, 3, 16}) {
      EXPECT_EQ(begin_of_share(size, 0, threads), 0);
      EXPECT_EQ(begin_of_share(size, threads, threads), size);
      for (int thread = 0; thread < threads; ++thread) {
        const Offset share = Offset{begin_of_share(size, thread + 1, threads)} -
                             begin_of_share(size, thread, threads);
        EXPECT_LE(std::abs(share - size / threads), 1);
      }
    }
  }
}

}  // namespace
}  // namespace csrkit::cpu
