#include "ranks/placement.h"

#include <gtest/gtest.h>

#include "ranks/thread_ranks.h"

namespace csrkit::ranks {
namespace {

Place place(const std::string& host, int threads, std::vector<int> cpus, bool is_bound = false) {
  Place made;
  made.host = host;
  made.threads = threads;
  made.cores = cpus;
  made.cpus = std::move(cpus);
  made.is_bound = is_bound;
  return made;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Placement, RanksWithProcessorsOfTheirOwnAreNotWarned) {
  EXPECT_TRUE(placement_warnings({place("a", 2, {0, 1}, true), place("a", 2, {2, 3}, true),
                                  place("b", 4, {0, 1, 2, 3})})
                  .empty());
}

TEST(Placement, MasksMayOverlapWhereThereIsRoomAndNothingIsBound) {
  EXPECT_TRUE(
      placement_warnings({place("a", 2, {0, 1, 2, 3}), place("a", 2, {0, 1, 2, 3})}).empty());
}

TEST(Placement, MoreThreadsThanProcessorsAreNamed) {
  const auto warnings = placement_warnings({place("a", 4, {0, 1}), place("b", 1, {0})});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(holds(warnings[0], "rank 0 on a: 4 threads on 2 processors (0-1)")) << warnings[0];
}

TEST(Placement, RanksOnTheSameProcessorsAreNamedTogether) {
  const auto warnings =
      placement_warnings({place("a", 2, {0, 1}), place("b", 2, {0, 1}), place("a", 2, {1, 2})});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(holds(warnings[0], "ranks 0,2 on a: 4 threads on 3 processors (0-2)")) << warnings[0];
}

TEST(Placement, MasksThatOverlapThroughAThirdAreOneGroup) {
  const auto warnings =
      placement_warnings({place("a", 2, {0, 1}), place("a", 2, {2, 3}), place("a", 1, {1, 2})});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(holds(warnings[0], "ranks 0-2 on a: 5 threads on 4 processors (0-3)")) << warnings[0];
}

TEST(Placement, BoundThreadsOnSharedProcessorsAreNamedEvenWithRoom) {
  const auto warnings =
      placement_warnings({place("a", 1, {0, 1, 2, 3}, true), place("a", 1, {0, 1, 2, 3}, true)});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(holds(warnings[0], "ranks 0-1 on a share the processors 0-3")) << warnings[0];
  EXPECT_TRUE(holds(warnings[0], "OMP_PROC_BIND")) << warnings[0];
}

TEST(Placement, TwoThreadsOnOneCoreAreNamed) {
  Place both = place("a", 4, {0, 1, 2, 3});
  both.cores = {0, 1, 0, 1};
  const auto warnings = placement_warnings({both});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(holds(warnings[0], "4 threads on 2 cores")) << warnings[0];
}

TEST(Placement, HostsAreApartAndAnUnknownMaskSaysNothing) {
  EXPECT_TRUE(
      placement_warnings({place("a", 2, {0, 1}, true), place("b", 2, {0, 1}, true)}).empty());
  EXPECT_TRUE(placement_warnings({place("a", 9, {})}).empty());
}

TEST(Placement, EveryRankLearnsAllPlaces) {
  run_as_threads(3, [](Communicator& rank) {
    Place mine = place("host" + std::to_string(rank.rank()), rank.rank() + 1,
                       rank.rank() == 1 ? std::vector<int>{} : std::vector<int>{3, 5});
    mine.is_bound = rank.rank() == 2;
    const std::vector<Place> all = gather_places(rank, mine);
    ASSERT_EQ(all.size(), 3u);
    for (int other = 0; other < 3; ++other) {
      const Place& its = all[static_cast<std::size_t>(other)];
      EXPECT_EQ(its.host, "host" + std::to_string(other));
      EXPECT_EQ(its.threads, other + 1);
      EXPECT_EQ(its.is_bound, other == 2);
      EXPECT_EQ(its.cpus, other == 1 ? std::vector<int>{} : (std::vector<int>{3, 5}));
      EXPECT_EQ(its.cores, its.cpus);
    }
  });
}

TEST(Placement, ThisProcessHasProcessors) {
  const Place here = this_place(3);
  EXPECT_EQ(here.threads, 3);
  EXPECT_FALSE(here.host.empty());
  EXPECT_FALSE(here.cpus.empty());
  EXPECT_EQ(here.cpus.size(), here.cores.size());
}

TEST(Placement, RanksThatShareAGpuAreNamed) {
  const std::vector<Place> places = {place("a", 1, {0}), place("b", 1, {0}), place("a", 1, {1}),
                                     place("a", 1, {2})};
  EXPECT_EQ(number_on_host(places, 0), 0);
  EXPECT_EQ(number_on_host(places, 1), 0);
  EXPECT_EQ(number_on_host(places, 3), 2);
  // GPUs of two hosts may have the same address.
  EXPECT_EQ(shared_gpus(places, {"1b", "1b", "1c", "1d"}), "");
  EXPECT_EQ(shared_gpus(places, {"1b", "1b", "1c", "1b"}), "ranks 0,3 share the GPU 1b on a");
}

}  // namespace
}  // namespace csrkit::ranks
