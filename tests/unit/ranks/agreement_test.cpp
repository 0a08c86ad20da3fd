#include "ranks/agreement.h"

#include <gtest/gtest.h>

#include "tests/unit/core/part_samples.h"

namespace csrkit {
namespace {

std::vector<PartLists> lists_of_all(Index parts) {
  const CsrMatrix matrix = random_csr(60, 60, 5, ValueKind::f32);
  const RankSections sections = RankSections::of(matrix, {random_borders(matrix, parts, 4)});
  std::vector<PartLists> lists;
  for (Index part = 0; part < parts; ++part) lists.push_back(sections.lists(0, part));
  return lists;
}

/// Parts that refuse.
int refusals(const std::vector<PartLists>& lists) {
  std::vector<std::string> all;
  Index part = 0;
  for (const PartLists& one : lists) all.push_back(ranks::digests_of(part++, one));
  int refused = 0;
  for (part = 0; part < static_cast<Index>(lists.size()); ++part) {
    try {
      ranks::require_agreement(part, lists[static_cast<std::size_t>(part)], all, "a.csr");
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("a.csr: expected lists of parts that fit"), 0u);
      ++refused;
    }
  }
  return refused;
}

/// What parts send and others do not wait for, and the other way round.
std::uint64_t unmatched(const std::vector<PartLists>& lists) {
  std::uint64_t sum = 0;
  Index part = 0;
  for (const PartLists& one : lists) sum += ranks::unmatched(part++, one);
  return sum;
}

TEST(Agreement, ListsOfOneFileFitEachOther) {
  for (const Index parts : {1, 2, 5}) {
    EXPECT_EQ(refusals(lists_of_all(parts)), 0);
    EXPECT_EQ(unmatched(lists_of_all(parts)), 0u);
  }
}

TEST(Agreement, EveryOtherColumnIsNoticedByWhoWaitsForIt) {
  const std::size_t sends = static_cast<std::size_t>(lists_of_all(3)[1].sends.size());
  ASSERT_GT(sends, 4u);
  for (std::size_t at = 0; at < sends; ++at) {
    std::vector<PartLists> lists = lists_of_all(3);
    ++lists[1].sends[static_cast<Offset>(at)];
    EXPECT_EQ(refusals(lists), 1) << at;
    EXPECT_NE(unmatched(lists), 0u) << at;
  }
}

TEST(Agreement, ColumnsForTheWrongPartAreNoticed) {
  // What goes to two parts changes places: the same columns leave, to others.
  std::vector<PartLists> lists = lists_of_all(3);
  ASSERT_EQ(lists[0].neighbours.size(), 2u);
  std::swap(lists[0].neighbours[0].part, lists[0].neighbours[1].part);
  EXPECT_NE(unmatched(lists), 0u);
}

TEST(Agreement, WhoSendsNothingIsNoticed) {
  std::vector<PartLists> lists = lists_of_all(3);
  ASSERT_GT(lists[1].neighbours.size(), 1u);
  lists[1].neighbours.clear();
  EXPECT_EQ(refusals(lists), 2);
  EXPECT_NE(unmatched(lists), 0u);
}

TEST(Agreement, SumsOfSplitRowsAreAwaitedAsTheyAreSent) {
  const CsrMatrix matrix = hub_sample(60);
  const RankSections sections =
      RankSections::of(matrix, plain_blocks(matrix, {3}), 0, {}, {19, 20, 30});
  const auto lists_of = [&] {
    std::vector<PartLists> lists;
    for (Index part = 0; part < 3; ++part) lists.push_back(sections.lists(0, part));
    return lists;
  };
  std::vector<PartLists> lists = lists_of();
  EXPECT_EQ(refusals(lists), 0);
  EXPECT_EQ(unmatched(lists), 0u);
  int tried = 0;
  for (std::size_t part = 0; part < 3; ++part) {
    for (std::size_t at = 0; at < lists_of()[part].pieces.size(); ++at, ++tried) {
      lists = lists_of();
      ++lists[part].pieces[at].row;
      EXPECT_EQ(refusals(lists), 1) << part << ", " << at;
      EXPECT_NE(unmatched(lists), 0u) << part << ", " << at;
    }
  }
  EXPECT_GE(tried, 2);
}

}  // namespace
}  // namespace csrkit
