#include "core/matrix/filled_columns.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/facts/locality.h"
#include "core/facts/matrix_stats.h"
#include "core/facts/reuse_distance.h"
#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

TEST(FilledColumns, LeavesOutTheOthers) {
  const CsrMatrix a = pattern_of(kMaxIndex, {{5, kMaxIndex - 1}, {}, {0, 5}});
  ASSERT_TRUE(is_hypersparse(a));
  const FilledColumns filled = filled_columns(a);
  EXPECT_EQ(std::vector<Index>(filled.cols.begin(), filled.cols.end()),
            (std::vector<Index>{0, 5, kMaxIndex - 1}));
  EXPECT_TRUE(identical(filled.pattern, pattern_of(3, {{1, 2}, {}, {0, 1}})));
}

TEST(FilledColumns, OfNoEntries) {
  const FilledColumns filled = filled_columns(pattern_of(7, {{}, {}}));
  EXPECT_EQ(filled.cols.size(), 0);
  EXPECT_TRUE(identical(filled.pattern, pattern_of(0, {{}, {}})));
}

// An array of 2^31 - 1 numbers would take 8 GiB and seconds, for each thread.
TEST(FilledColumns, FactsOfAMatrixOfMostlyEmptyColumnsTakeNoTimeForThem) {
  const Index last = kMaxIndex - 1;
  const CsrMatrix a = pattern_of(kMaxIndex, {{0, 31, last}, {1, 32, last}});
  const LocalityProfile locality = locality_profile(a);
  EXPECT_EQ(locality.bandwidth, last);
  EXPECT_DOUBLE_EQ(locality.entries_per_touched_tile, 6.0 / 3);
  EXPECT_DOUBLE_EQ(locality.entries_per_vector_of_8, 6.0 / 5);
  EXPECT_EQ(matrix_stats(a).empty_cols, kMaxIndex - 5);
  const ReuseProfile reads = reuse_profile(a);
  EXPECT_DOUBLE_EQ(reads.hit_share(2), 0);
  EXPECT_DOUBLE_EQ(reads.hit_share(3), 1.0 / 6);  // two others between the reads of the last one
}

}  // namespace
}  // namespace csrkit
