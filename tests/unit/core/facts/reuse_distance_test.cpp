#include "core/facts/reuse_distance.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <numeric>

#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

/// A cache as one would draw it: a list, the last read in front.
class NaiveLru {
 public:
  explicit NaiveLru(std::size_t capacity) : capacity_(capacity) {}
  bool hits(Index item) {
    const auto at = std::find(held_.begin(), held_.end(), item);
    const bool hit = at != held_.end();
    if (hit) held_.erase(at);
    held_.push_front(item);
    if (held_.size() > capacity_) held_.pop_back();
    return hit;
  }

 private:
  std::size_t capacity_;
  std::list<Index> held_;
};

double naive_hits(const std::vector<std::vector<Index>>& streams, std::size_t capacity) {
  double hits = 0;
  for (const std::vector<Index>& stream : streams) {
    NaiveLru cache(capacity);
    for (const Index item : stream) hits += cache.hits(item);
  }
  return hits;
}

std::vector<Index> reads_of_row(const CsrMatrix& a, Index row) {
  return {a.col_indices() + a.row_offsets()[row], a.col_indices() + a.row_offsets()[row + 1]};
}

void append(std::vector<Index>& to, const std::vector<Index>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::vector<Index> all_reads(const CsrMatrix& a) {
  return {a.col_indices(), a.col_indices() + a.nnz()};
}

const int kCapacities[] = {1, 2, 3, 5, 8, 16, 17, 18, 31, 64, 100, 128, 256, 1000};

void expect_naive(const ReuseProfile& found, const std::vector<std::vector<Index>>& streams) {
  for (const int capacity : kCapacities) {
    SCOPED_TRACE(capacity);
    const double share =
        found.reads() == 0
            ? 0
            : naive_hits(streams, static_cast<std::size_t>(capacity)) / found.reads();
    EXPECT_NEAR(found.hit_share(capacity), share, 1e-12);
    EXPECT_EQ(found.hit_share_error(capacity), 0);
  }
}

TEST(ReuseProfile, EqualsTheNaiveCache) {
  for (const auto& [name, a] : pattern_battery()) {
    SCOPED_TRACE(name);
    const ReuseProfile found = reuse_profile(a);
    EXPECT_TRUE(found.is_exact());
    EXPECT_EQ(found.reads(), static_cast<double>(a.nnz()));
    expect_naive(found, {all_reads(a)});
  }
}

TEST(ReuseProfile, EqualsTheNaiveCacheOfEveryWorker) {
  const CsrMatrix a = random_pattern(300, 250, 6, 9);
  ReuseOptions options;
  options.readers = {4, 5, true};
  std::vector<std::vector<Index>> streams(4);
  for (Index row = 0; row < a.rows(); ++row) {
    append(streams[static_cast<std::size_t>(row / 5 % 4)], reads_of_row(a, row));
  }
  expect_naive(reuse_profile(a, options), streams);

  options.readers = {3, 0, true};  // 1,800 reads: 100 rows each
  streams.assign(3, {});
  for (Index row = 0; row < a.rows(); ++row) {
    append(streams[static_cast<std::size_t>(row / 100)], reads_of_row(a, row));
  }
  expect_naive(reuse_profile(a, options), streams);
}

TEST(ReuseProfile, WorkersShareACacheInStep) {
  // 64 reads a turn are 8 rows of 8: rows 0-7, 80-87, 8-15, 88-95, ...
  const CsrMatrix a = random_pattern(160, 400, 8, 4);
  ReuseOptions options;
  options.readers = {2, 0, false};
  std::vector<Index> stream;
  for (Index turn = 0; turn < 10; ++turn) {
    for (const Index half : {0, 80}) {
      for (Index row = 0; row < 8; ++row) {
        append(stream, reads_of_row(a, half + turn * 8 + row));
      }
    }
  }
  expect_naive(reuse_profile(a, options), {stream});
  // However rows are handed out, every one is read once.
  for (const ReadOrder order :
       {ReadOrder{7, 0, false}, {7, 3, false}, {400, 0, false}, {400, 1, true}}) {
    options.readers = order;
    for (const auto& [name, matrix] : pattern_battery()) {
      const ReuseProfile profile = reuse_profile(matrix, options);
      EXPECT_NEAR(profile.warm_hit_share(1e6), matrix.nnz() == 0 ? 0 : 1, 1e-12) << name;
    }
  }
}

TEST(ReuseProfile, VisitsRowsInAnyOrder) {
  const CsrMatrix a = random_pattern(90, 60, 4, 5);
  std::vector<Index> order(90);
  std::iota(order.rbegin(), order.rend(), 0);
  ReuseOptions options;
  options.row_order = order.data();
  std::vector<Index> stream;
  for (const Index row : order) append(stream, reads_of_row(a, row));
  expect_naive(reuse_profile(a, options), {stream});
}

TEST(ReuseProfile, RowsOfCTakeTheirPlaces) {
  for (const auto& [name, a] : pattern_battery()) {
    SCOPED_TRACE(name);
    std::vector<Index> stream;
    for (Index row = 0; row < a.rows(); ++row) {
      append(stream, reads_of_row(a, row));
      stream.push_back(a.cols() + row);
    }
    ReuseOptions options;
    options.has_output_rows = true;
    expect_naive(reuse_profile(a, options), {stream});
  }
  // Enough of them for many renumberings, with sampled columns among them.
  const CsrMatrix many = random_pattern(60000, 300, 2, 3);
  ReuseOptions options;
  options.has_output_rows = true;
  const ReuseProfile exact = reuse_profile(many, options);
  options.exact_reads = 1000;
  options.sampled_reads = 60000;
  EXPECT_NEAR(reuse_profile(many, options).hit_share(256), exact.hit_share(256), 0.03);
}

TEST(ReuseProfile, AWarmCacheHoldsWhatFits) {
  const CsrMatrix a = pattern_of(10, {{0, 1, 2}, {0}, {7}});
  const ReuseProfile p = reuse_profile(a);
  EXPECT_EQ(p.first_reads(), 4);
  EXPECT_DOUBLE_EQ(p.hit_share(3), 0.2);
  EXPECT_DOUBLE_EQ(p.warm_hit_share(3), 0.2);
  EXPECT_DOUBLE_EQ(p.hit_share(4), 0.2);
  EXPECT_DOUBLE_EQ(p.warm_hit_share(4), 1);
}

TEST(ReuseProfile, IsExactAtSevenBitsAndFallsNowhere) {
  const CsrMatrix a = random_pattern(3000, 3000, 10, 6);
  const ReuseProfile found = reuse_profile(a);
  const std::vector<Index> reads = all_reads(a);
  for (const int capacity : {129, 130, 254, 320, 1000, 1016, 2000}) {
    const bool is_edge =
        capacity % (1 << std::max(0, static_cast<int>(std::log2(capacity)) - 6)) == 0;
    const double share = naive_hits({reads}, static_cast<std::size_t>(capacity)) / found.reads();
    EXPECT_NEAR(found.hit_share(capacity), share, is_edge ? 1e-12 : 1e-3) << capacity;
  }
  double before = 0;
  for (double capacity = 0; capacity < 5000; capacity += 13.7) {
    EXPECT_GE(found.hit_share(capacity), before);
    before = found.hit_share(capacity);
  }
}

/// Skewed reads: half of them of a few columns, the others anywhere.
CsrMatrix with_hubs(Index rows, Index cols) {
  std::vector<std::vector<Index>> lists(static_cast<std::size_t>(rows));
  RandomStream random(12);
  for (std::vector<Index>& row : lists) {
    for (int k = 0; k < 8; ++k) {
      const std::uint64_t from = k < 4 ? 200 : static_cast<std::uint64_t>(cols);
      row.push_back(static_cast<Index>(random.below(from) * random.below(from) / from));
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return pattern_of(cols, lists);
}

TEST(ReuseProfile, ASampleIsAsFarOffAsItSays) {
  const CsrMatrix matrices[] = {random_pattern(20000, 20000, 8, 7), with_hubs(20000, 30000)};
  for (const CsrMatrix& a : matrices) {
    const ReuseProfile exact = reuse_profile(a);
    double worst = 0, squares = 0;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      ReuseOptions options;
      options.exact_reads = 1000;
      options.sampled_reads = 20000;
      options.seed = seed;
      const ReuseProfile sample = reuse_profile(a, options);
      EXPECT_FALSE(sample.is_exact());
      EXPECT_LT(sample.sampled_share(), 0.7);
      EXPECT_NEAR(sample.warm_hit_share(1e7), 1, 1e-9);
      for (const double capacity : {256, 1024, 4096, 8192, 16384}) {
        const double error = sample.hit_share_error(capacity);
        EXPECT_LT(error, 0.1) << capacity;
        const double off = std::abs(sample.hit_share(capacity) - exact.hit_share(capacity));
        worst = std::max(worst, off / (error + 1e-3));
        squares += std::pow(off / (error + 1e-3), 2);
        ++count;
      }
    }
    EXPECT_LT(worst, 5);
    EXPECT_LT(std::sqrt(squares / count), 2);
  }
}

TEST(ReuseProfile, DoesNotDependOnThreads) {
  const CsrMatrix a = random_pattern(4000, 4000, 9, 8);
  ReuseOptions options;
  options.readers = {6, 16, true};
  for (const Offset exact_reads : {Offset{1} << 20, Offset{100}}) {
    options.exact_reads = exact_reads;
    options.sampled_reads = 9000;
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    const ReuseProfile one = reuse_profile(a, options);
    omp_set_num_threads(5);
    const ReuseProfile five = reuse_profile(a, options);
    omp_set_num_threads(before);
    for (const int capacity : kCapacities) {
      EXPECT_EQ(one.hit_share(capacity), five.hit_share(capacity));
      EXPECT_EQ(one.hit_share_error(capacity), five.hit_share_error(capacity));
    }
  }
}

TEST(ReuseProfile, RefusesNobody) {
  ReuseOptions options;
  options.readers.workers = 0;
  EXPECT_THROW(reuse_profile(CsrMatrix(), options), UsageError);
}

}  // namespace
}  // namespace csrkit
