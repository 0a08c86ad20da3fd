#include "ranks/thread_ranks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/failing_allocations.h"

namespace csrkit::ranks {
namespace {

TEST(ThreadRanks, OneRankAloneRunsInTheCallersThread) {
  const std::thread::id caller = std::this_thread::get_id();
  int runs = 0;
  run_as_threads(1, [&](Communicator& rank) {
    ++runs;
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(rank.rank(), 0);
    EXPECT_EQ(rank.size(), 1);
    rank.barrier();
    EXPECT_EQ(rank.gather("me"), std::vector<std::string>{"me"});
  });
  EXPECT_EQ(runs, 1);
}

TEST(ThreadRanks, TextsAreGatheredInTheOrderOfRanksAgainAndAgain) {
  run_as_threads(7, [](Communicator& rank) {
    for (int round = 0; round < 50; ++round) {
      const std::string mine =
          std::string(static_cast<std::size_t>(rank.rank()), '\0') + std::to_string(round);
      const std::vector<std::string> all = rank.gather(mine);
      ASSERT_EQ(all.size(), 7u);
      for (std::size_t other = 0; other < all.size(); ++other) {
        ASSERT_EQ(all[other], std::string(other, '\0') + std::to_string(round));
      }
    }
  });
}

/// Every rank sends every rank (itself, too) two messages of lengths that tell who sent what.
TEST(ThreadRanks, MessagesArriveWholeAndInOrder) {
  constexpr int kRanks = 5;
  run_as_threads(kRanks, [](Communicator& rank) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::vector<std::uint32_t>> sent, received;
      std::vector<Outgoing> outgoing;
      std::vector<Incoming> incoming;
      const auto length = [](int from, int to, int which) {
        return static_cast<std::size_t>((from * 7 + to * 3 + which) % 4) * 1000;
      };
      const auto word = [&](int from, int to, int which, std::size_t at) {
        return static_cast<std::uint32_t>(((from * 8 + to) * 2 + which) * 100000 + round * 4000) +
               static_cast<std::uint32_t>(at);
      };
      for (int other = 0; other < kRanks; ++other) {
        for (int which = 0; which < 2; ++which) {
          sent.emplace_back();
          for (std::size_t at = 0; at < length(rank.rank(), other, which); ++at) {
            sent.back().push_back(word(rank.rank(), other, which, at));
          }
          received.emplace_back(length(other, rank.rank(), which), 0xdeadbeef);
        }
      }
      for (int i = 0; i < 2 * kRanks; ++i) {
        const auto& out = sent[static_cast<std::size_t>(i)];
        auto& in = received[static_cast<std::size_t>(i)];
        outgoing.push_back({i / 2, out.data(), out.size() * sizeof(std::uint32_t)});
        incoming.push_back({i / 2, in.data(), in.size() * sizeof(std::uint32_t)});
      }
      rank.start(outgoing, incoming);
      rank.finish();
      for (int i = 0; i < 2 * kRanks; ++i) {
        const auto& in = received[static_cast<std::size_t>(i)];
        for (std::size_t at = 0; at < in.size(); ++at) {
          ASSERT_EQ(in[at], word(i / 2, rank.rank(), i % 2, at));
        }
      }
    }
  });
}

TEST(ThreadRanks, WhatARankThrowsEndsThoseThatWaitForIt) {
  std::atomic<int> lost{0};
  try {
    run_as_threads(4, [&](Communicator& rank) {
      if (rank.rank() == 2) throw InputError("file.csr: byte 7: damaged");
      int word = 0;
      try {
        rank.start({}, {{2, &word, sizeof word}});
        rank.finish();
      } catch (const RankLost& error) {
        EXPECT_STREQ(error.what(), "rank 2 failed");
        ++lost;
        throw;
      }
    });
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "file.csr: byte 7: damaged");
  }
  EXPECT_EQ(lost, 3);
}

TEST(ThreadRanks, ASizeThatDoesNotAgreeIsAnError) {
  EXPECT_THROW(run_as_threads(2,
                              [](Communicator& rank) {
                                std::uint64_t word = 0;
                                if (rank.rank() == 0) {
                                  rank.start({{1, &word, sizeof word}}, {});
                                } else {
                                  rank.start({}, {{0, &word, 4}});
                                }
                                rank.finish();
                              }),
               Error);
}

/// Rank 0 sends words to rank 1 as `sender` says, whose memory goes when it fails: no reader may be
/// in it.
void expect_the_sender_to_fail(
    const std::function<void(Communicator&, std::vector<std::uint64_t>&)>& sender) {
  constexpr std::size_t kWords = 1 << 22;
  const auto run = [&](Communicator& rank) {
    std::vector<std::uint64_t> words(kWords, 1);
    if (rank.rank() == 0) return sender(rank, words);
    Exchange(rank, {}, {{0, words.data(), kWords * 8}}).finish();
  };
  for (int round = 0; round < 5; ++round) EXPECT_THROW(run_as_threads(2, run), InputError);
}

TEST(ThreadRanks, AFailingSenderWaitsForThoseWhoRead) {
  expect_the_sender_to_fail([](Communicator& rank, std::vector<std::uint64_t>& words) {
    rank.start({{1, words.data(), words.size() * 8}}, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    rank.fail(1);
    words.assign(words.size(), 2);
    throw InputError("gone");
  });
}

TEST(ThreadRanks, AnExchangeThatAnExceptionLeavesIsReadNoMore) {
  expect_the_sender_to_fail([](Communicator& rank, std::vector<std::uint64_t>& words) {
    const Exchange exchange(rank, {{1, words.data(), words.size() * 8}}, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw InputError("gone");
  });
}

/// Threads that run when the next cannot be made are joined: else the process would be ended.
TEST(ThreadRanks, EveryAllocationMayFail) {
  EXPECT_GT(csrkit::test::failures_of(
                [] { run_as_threads(3, [](Communicator& rank) { rank.barrier(); }); }),
            5);
}

}  // namespace
}  // namespace csrkit::ranks
