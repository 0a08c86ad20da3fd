#include "tools/ranks/rank_tool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/core/part_samples.h"
#include "tools/cli/run_tool.h"

namespace csrkit {
namespace {

/// What a user gets from a tool of three ranks.
void run_three(const std::function<void(ranks::Communicator&)>& body) {
  Options options("csr-test", "", 0, 0, "A tool.");
  declare_ranks(options);
  const char* const words[] = {"csr-test", "--ranks", "3"};
  run_ranks(options, 3, words, body);
}

template <class Error>
std::string message_of(const std::function<void(ranks::Communicator&)>& body) {
  try {
    run_three(body);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(RankTool, AStepThatFailsOnOneRankFailsOnAllInItsWords) {
  std::atomic<int> went_on{0};
  const std::string message = message_of<InputError>([&](ranks::Communicator& communicator) {
    together(communicator, [&] {
      if (communicator.rank() == 1) throw InputError("a.csr: byte 3: damaged");
    });
    ++went_on;
  });
  EXPECT_EQ(message.rfind("rank 1 on ", 0), 0u) << message;
  EXPECT_NE(message.find(": a.csr: byte 3: damaged"), std::string::npos) << message;
  EXPECT_EQ(went_on, 0);
}

TEST(RankTool, TheSameFailureOnAllRanksIsToldWithoutTheirNumbers) {
  EXPECT_EQ(message_of<IoError>([](ranks::Communicator& communicator) {
              together(communicator, [] { throw IoError("cannot read 'a'"); });
            }),
            "cannot read 'a'");
}

TEST(RankTool, SeveralFailuresAreCounted) {
  const std::string message = message_of<MemoryError>([](ranks::Communicator& communicator) {
    together(communicator, [&] {
      if (communicator.rank() > 0) throw MemoryError(std::to_string(communicator.rank()));
    });
  });
  EXPECT_NE(message.find(": 1 (and 1 more rank failed)"), std::string::npos) << message;
}

TEST(RankTool, WhatStepsTellIsThereOnAllRanksInTheirOrder) {
  std::atomic<int> right{0};
  run_three([&](ranks::Communicator& communicator) {
    const auto told = telling_together(communicator, [&] {
      return std::string(static_cast<std::size_t>(communicator.rank()), '\n');
    });
    right += told == std::vector<std::string>{"", "\n", "\n\n"};
  });
  EXPECT_EQ(right, 3);
}

TEST(RankTool, ListsThatContradictEachOtherAreRefusedOnAllRanks) {
  const CsrMatrix matrix = random_csr(60, 60, 5, ValueKind::f32);
  const RankSections sections = RankSections::of(matrix, {random_borders(matrix, 3, 4)});
  for (const bool is_changed : {false, true}) {
    std::atomic<int> went_on{0};
    const auto body = [&](ranks::Communicator& communicator) {
      const Index part = communicator.rank();
      PartLists lists = sections.lists(0, part);
      if (is_changed && part == 1) ++lists.sends[0];
      const auto told = telling_together(communicator, [&] { return told_of_lists(part, lists); });
      require_lists_fit(communicator, part, lists, "a.csr", told);
      ++went_on;
    };
    if (is_changed) {
      const std::string message = message_of<InputError>(body);
      EXPECT_NE(
          message.find("a.csr: expected lists of parts that fit each other, but part 1 would"),
          std::string::npos)
          << message;
    } else {
      run_three(body);
    }
    EXPECT_EQ(went_on, is_changed ? 0 : 3);
  }
}

TEST(RankTool, ARankThatFailsAloneIsNamed) {
  const std::string message = message_of<VerifyError>([](ranks::Communicator& communicator) {
    if (communicator.rank() == 2) throw VerifyError("wrong");
    communicator.barrier();
  });
  EXPECT_EQ(message.rfind("rank 2 on ", 0), 0u) << message;
}

TEST(RankTool, OneThatIsFinishedFinishesAll) {
  std::atomic<int> went_on{0};
  EXPECT_THROW(run_three([&](ranks::Communicator& communicator) {
                 only_first(communicator, [] { throw Finished{3}; });
                 ++went_on;
               }),
               Finished);
  EXPECT_EQ(went_on, 0);
}

class SharedFileTest : public testing::Test {
 protected:
  SharedFileTest() { std::filesystem::create_directory(folder_); }
  ~SharedFileTest() override { std::filesystem::remove_all(folder_); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("csrkit_shared_" + std::to_string(::getpid()));
  std::string path_ = folder_ / "c";
};

TEST_F(SharedFileTest, AllRanksWriteOneFile) {
  run_three([&](ranks::Communicator& communicator) {
    SharedFile shared(communicator, path_);
    shared.write([&](AtomicFile& file) {
      const std::string mine(1000, static_cast<char>('a' + communicator.rank()));
      file.write_at(1000 * static_cast<std::uint64_t>(communicator.rank()), mine.data(), 1000);
    });
    EXPECT_FALSE(std::filesystem::exists(path_));
    shared.commit();
    EXPECT_TRUE(std::filesystem::exists(path_));
  });
  std::ifstream stream(path_);
  const std::string all{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(all, std::string(1000, 'a') + std::string(1000, 'b') + std::string(1000, 'c'));
  EXPECT_EQ(files(), 1u);
}

TEST_F(SharedFileTest, OneThatCannotWriteLeavesNothing) {
  EXPECT_THROW(run_three([&](ranks::Communicator& communicator) {
                 SharedFile shared(communicator, path_);
                 shared.write([&](AtomicFile& file) {
                   file.write_at(0, "x", 1);
                   if (communicator.rank() == 1) throw IoError("the disk is full");
                 });
                 shared.commit();
               }),
               IoError);
  EXPECT_EQ(files(), 0u);
}

TEST_F(SharedFileTest, ARankThatIsLostLeavesNothing) {
  EXPECT_THROW(run_three([&](ranks::Communicator& communicator) {
                 SharedFile shared(communicator, path_);
                 if (communicator.rank() == 2) throw Error("gone");
                 shared.write([](AtomicFile& file) { file.write_at(0, "x", 1); });
                 shared.commit();
               }),
               Error);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace csrkit
