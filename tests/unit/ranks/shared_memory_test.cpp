// Between threads. Between processes: tests/cli/spmm-dist/mpirun.sh.
#include "ranks/shared_memory.h"

#include <gtest/gtest.h>

#include <atomic>

#include "ranks/thread_ranks.h"

namespace csrkit::ranks {
namespace {

TEST(RanksSharedMemory, OneForEachGroup) {
  run_as_threads(6, [](Communicator& communicator) {
    const int rank = communicator.rank(), group = rank % 2;
    std::string why_not = "not told";
    const auto memory = share_memory(communicator, group, 3 * sizeof(int), &why_not);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(why_not, "");
    auto* const numbers = static_cast<int*>(memory->data());
    numbers[rank / 2] = rank;
    communicator.barrier();
    for (int place = 0; place < 3; ++place) EXPECT_EQ(numbers[place], 2 * place + group);
  });
}

TEST(RanksSharedMemory, MayBeEmpty) {
  run_as_threads(2, [](Communicator& communicator) {
    std::string why_not;
    EXPECT_NE(share_memory(communicator, 0, 0, &why_not), nullptr);
  });
}

TEST(RanksSharedMemory, LivesAsLongAsAnyRankHoldsIt) {
  std::atomic<int> seen{0};
  run_as_threads(2, [&](Communicator& communicator) {
    std::string why_not;
    auto memory = share_memory(communicator, 0, sizeof(int), &why_not);
    if (communicator.rank() == 0) *static_cast<int*>(memory->data()) = 7;
    communicator.barrier();
    if (communicator.rank() == 0) memory.reset();
    communicator.barrier();
    if (communicator.rank() == 1) seen = *static_cast<int*>(memory->data());
  });
  EXPECT_EQ(seen, 7);
}

/// What the system refuses is told to all, in the same words.
TEST(RanksSharedMemory, ARefusalIsEverybodys) {
  run_as_threads(3, [](Communicator& communicator) {
    std::string why_not;
    EXPECT_EQ(share_memory(communicator, 0, std::uint64_t{1} << 62, &why_not), nullptr);
    EXPECT_NE(why_not.find("memory"), std::string::npos) << why_not;
  });
}

}  // namespace
}  // namespace csrkit::ranks
