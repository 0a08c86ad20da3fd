// When bands of columns pay, on what was found in matrices and how long kernels took there. Needs
// no GPU.

#include "gpu/spmm/bands_or_bins.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "core/base/hash.h"

namespace csrkit::gpu {
namespace {

SpmmProfile sizes(Index rows, Offset nnz, Index dense_cols) {
  SpmmProfile profile;
  profile.rows = profile.cols = rows;
  profile.nnz = nnz;
  profile.dense_cols = dense_cols;
  return profile;
}

// Times of row_bins and column_bands in microseconds, of generated graphs and of stand-ins of
// published ones, with what a look at them found.
TEST(BandsOrBins, IsNearTheFasterKernelOfRecordedProducts) {
  struct Recorded {
    const char* matrix;
    Index rows, dense_cols;
    Offset nnz;
    BandSample sample;
    double bins, bands;
  };
  const Recorded of_h200[] = {
      {"products", 2449029, 32, 123718280, {0.780, 0.780, 0.883, 1271869}, 3130, 2820},
      {"products", 2449029, 128, 123718280, {0.835, 0.780, 0.883, 1271869}, 12983, 11255},
      {"com120", 400000, 32, 48000000, {0.263, 0.263, 1.000, 408219}, 739, 741},
      {"com120", 400000, 64, 48000000, {0.263, 0.263, 1.000, 408219}, 1517, 1457},
      {"com1M20", 1000000, 32, 20000000, {0.679, 0.679, 0.848, 607147}, 513, 541},
      {"com1M20", 1000000, 64, 20000000, {0.856, 0.679, 0.848, 607147}, 1110, 1050},
      {"com400k75", 400000, 32, 30000000, {0.000, 0.000, 0.000, 0}, 499, 486},
      {"com400k75", 400000, 64, 30000000, {0.656, 0.137, 1.000, 422079}, 1185, 949},
      {"com550k25", 550000, 32, 13750000, {0.457, 0.457, 0.977, 504445}, 292, 285},
      {"com550k25", 550000, 64, 13750000, {0.758, 0.457, 0.977, 504445}, 660, 552},
      {"com550k60", 550000, 32, 33000000, {0.449, 0.449, 1.000, 512012}, 644, 560},
      {"com550k60", 550000, 64, 33000000, {0.750, 0.449, 1.000, 512012}, 1458, 1098},
      {"com700k30", 700000, 32, 21000000, {0.550, 0.550, 0.961, 605384}, 472, 443},
      {"com700k30", 700000, 64, 21000000, {0.550, 0.550, 0.961, 605384}, 946, 867},
      {"er150", 230000, 32, 34500000, {0.000, 0.000, 0.000, 0}, 525, 610},
      {"er150", 230000, 64, 34500000, {0.456, 0.000, 1.000, 230765}, 1157, 1023},
      {"er500k20", 500000, 32, 10000000, {0.544, 0.544, 1.000, 496285}, 235, 230},
      {"er500k20", 500000, 64, 10000000, {0.747, 0.544, 1.000, 496285}, 519, 454},
      {"par400k", 400000, 32, 16000000, {0.000, 0.000, 0.000, 0}, 271, 276},
      {"par400k", 400000, 64, 16000000, {0.486, 0.000, 1.000, 412480}, 615, 532},
      {"ppa", 576289, 32, 42463862, {0.423, 0.423, 0.996, 536906}, 777, 680},
      {"ppa", 576289, 64, 42463862, {0.658, 0.423, 0.996, 536906}, 1780, 1332},
      {"reddit", 232965, 32, 114615892, {0.000, 0.000, 0.000, 0}, 1673, 1603},
      {"reddit", 232965, 64, 114615892, {0.237, 0.000, 1.000, 239852}, 3283, 3209},
      {"rmat17", 131072, 32, 23742620, {0.000, 0.000, 0.000, 0}, 288, 291},
      {"rmat17", 131072, 64, 23742620, {0.000, 0.000, 0.000, 0}, 615, 558},
      {"rmat18", 262144, 32, 27204534, {0.000, 0.000, 0.000, 0}, 368, 350},
      {"rmat18", 262144, 64, 27204534, {0.000, 0.000, 0.000, 0}, 731, 685},
      {"rmat19", 524288, 32, 19128808, {0.000, 0.000, 0.000, 0}, 263, 274},
      {"rmat19", 524288, 64, 19128808, {0.000, 0.000, 0.000, 0}, 525, 524},
      {"rmat19b", 524288, 32, 9877726, {0.000, 0.000, 0.000, 0}, 150, 167},
      {"rmat19b", 524288, 64, 9877726, {0.000, 0.000, 0.000, 0}, 280, 309},
      {"rmat20", 1048576, 32, 16084892, {0.000, 0.000, 0.000, 0}, 256, 296},
      {"rmat20", 1048576, 64, 16084892, {0.173, 0.000, 0.930, 133220}, 471, 549},
  };
  const Recorded of_h100[] = {
      {"products", 2449029, 32, 123718280, {0.766, 0.766, 0.848, 1106498}, 5009, 3717},
      {"products", 2449029, 64, 123718280, {0.789, 0.766, 0.848, 1106498}, 10206, 7386},
      {"citation2", 2927963, 32, 30387995, {0.891, 0.891, 0.273, 145968}, 1481, 1548},
      {"citation2", 2927963, 128, 30387995, {0.957, 0.891, 0.273, 145968}, 5725, 5880},
      {"yelp", 716847, 32, 13954819, {0.384, 0.384, 0.871, 259619}, 339, 349},
      {"yelp", 716847, 128, 13954819, {0.659, 0.384, 0.871, 259619}, 1579, 1304},
  };
  const auto choose = [](const Recorded& item, const CardRates& card) {
    const SpmmProfile profile = sizes(item.rows, item.nnz, item.dense_cols);
    const bool pays = bands_may_pay(profile, card) && bands_pay(profile, item.sample, card);
    SCOPED_TRACE(std::string(item.matrix) + ", K = " + std::to_string(item.dense_cols));
    EXPECT_LT(pays ? item.bands : item.bins, 1.11 * std::min(item.bins, item.bands));
    EXPECT_TRUE(pays || item.bands > 0.9 * item.bins);
    EXPECT_TRUE(!pays || item.bands < item.bins);
  };
  for (const Recorded& item : of_h200) choose(item, CardRates());
  for (const Recorded& item : of_h100) choose(item, {132 * 1.98e9, 3.35e12, 50 << 20});
}

TEST(BandsOrBins, NeedsWholeSlicesAndAnOrderThatTearsThem) {
  const auto pays = [&](Index rows, Offset nnz, Index dense_cols, const BandSample& sample) {
    return bands_pay(sizes(rows, nnz, dense_cols), sample, CardRates());
  };
  const BandSample shuffled = {0.78, 0.78, 0.88, 1.27e6};
  EXPECT_TRUE(pays(2'449'029, 123'718'280, 32, shuffled));
  EXPECT_FALSE(pays(2'449'029, 123'718'280, 32, {0.1, 0.1, 0.88, 1.27e6})) << "communities";
  EXPECT_FALSE(pays(2'449'029, 123'718'280, 36, shuffled)) << "a slice of four columns";
  EXPECT_FALSE(pays(0, 0, 32, {}));
}

// Meshes, and an A that the host cannot see.
TEST(BandsOrBins, NeedsABOfWhichL2MissesMuch) {
  const CardRates h100 = {132 * 1.98e9, 3.35e12, 50 << 20};
  const SpmmProfile short_rows = sizes(2'000'000, 18'000'000, 32);
  EXPECT_TRUE(bands_may_pay(short_rows, h100));
  for (const double missed : {0.0, 0.07}) {
    EXPECT_FALSE(bands_pay(short_rows, {missed, missed, 0, 0}, h100));
  }
}

TEST(BandsOrBins, CountsTheBytesOfManyRowsOfB) {
  SpmmProfile profile = sizes(1'000'000, 12'000'000, 64);
  profile.cols = 20'000'000;
  EXPECT_FALSE(bands_pay(profile, {1, 0.8, 0, 0}, CardRates())) << "more of B than is named";
}

TEST(BandsOrBins, SeesWhatACacheMissesAndHowManyRowsAreCut) {
  constexpr Index kRows = 20'000, kCols = 2'000'000, kShort = 4, kLong = 120;
  CardRates card;
  const auto sample_where = [&](auto&& column) {
    std::vector<Offset> offsets = {0};
    std::vector<Index> cols;
    for (Index row = 0; row < kRows; ++row) {
      std::set<Index> of_row;
      const Index length = row % 10 == 0 ? kShort : kLong;
      for (Index i = 0; i < length; ++i) of_row.insert(column(row, i));
      cols.insert(cols.end(), of_row.begin(), of_row.end());
      offsets.push_back(static_cast<Offset>(cols.size()));
    }
    const CsrMatrix matrix(kRows, kCols, Buffer<Offset>::copy_of(offsets.data(), kRows + 1),
                           Buffer<Index>::copy_of(cols.data(), static_cast<Offset>(cols.size())),
                           ValueArray());
    const SpmmProblem problem = default_spmm_problem(matrix, 64);
    return sample_for_bands(problem, sizes_of(problem), card);
  };
  const auto any = [](Index row, Index i) {
    return static_cast<Index>(
        random_word(3, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(i)) % kCols);
  };
  // Of 2,000,000 rows of B in slices of 256 and of 128 bytes half of L2 holds 6 and 12 %.
  const BandSample scattered = sample_where(any);
  EXPECT_NEAR(scattered.missed_by_bins, 0.94, 0.06);
  EXPECT_NEAR(scattered.missed, 0.88, 0.06);
  EXPECT_GT(scattered.cut_entries, 0.98);
  EXPECT_NEAR(scattered.cut_rows, 0.9 * kRows, 0.03 * kRows);
  // It holds all of the 120,000 rows that a smaller graph names.
  const BandSample small = sample_where([&](Index row, Index i) { return any(row, i) % 120'000; });
  EXPECT_EQ(small.missed_by_bins, 0);
  const BandSample near = sample_where([](Index row, Index i) { return 90 * row + 3 * i; });
  EXPECT_LT(near.missed_by_bins, 0.3);
}

}  // namespace
}  // namespace csrkit::gpu
