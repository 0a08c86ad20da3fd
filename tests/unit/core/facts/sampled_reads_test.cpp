#include "core/facts/sampled_reads.h"

#include <gtest/gtest.h>

#include "core/base/hash.h"
#include "tests/unit/core/facts/made_up_device.h"
#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

constexpr double kCapacities[] = {1, 3, 24, 100, 1000, 5000, 20000, 100000};

DeviceProfile device_of(int workers, Index rows_per_turn) {
  DeviceProfile device = made_up_device();
  device.workers = workers;
  device.rows_per_turn = rows_per_turn;
  return device;
}

SampledReads sampled(const CsrMatrix& a, const DeviceProfile& device,
                     const SampleOptions& options) {
  const RowReader read = [&](Index begin, Index end) {
    std::vector<std::vector<Index>> rows;
    for (Index row = begin; row < end; ++row) {
      rows.emplace_back(a.col_indices() + a.row_offsets()[row],
                        a.col_indices() + a.row_offsets()[row + 1]);
    }
    return pattern_of(a.cols(), rows);
  };
  return sample_reads(a.rows(), a.cols(), a.nnz(), read, device, options);
}

/// Every row has entries beside the diagonal, and some anywhere.
CsrMatrix near_and_far(Index rows, Index near, Index far) {
  std::vector<std::vector<Index>> pattern(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row) {
    std::vector<Index>& cols = pattern[static_cast<std::size_t>(row)];
    for (Index i = 0; i < near; ++i) cols.push_back((row + i) % rows);
    for (Index i = 0; i < far; ++i) {
      const auto word =
          random_word(7, static_cast<std::uint64_t>(row) * 64 + static_cast<std::uint64_t>(i));
      cols.push_back(static_cast<Index>(word % static_cast<std::uint64_t>(rows)));
    }
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
  }
  return pattern_of(rows, pattern);
}

void expect_near_the_whole(const CsrMatrix& a, const DeviceProfile& device, double most) {
  SampleOptions options;
  options.windows = 3;
  options.reads_each = 60000;
  const SampledReads few = sampled(a, device, options);
  EXPECT_LT(few.looked_at, 0.5 * static_cast<double>(a.nnz()));
  const ReadProfile all = read_profile(a, device);
  for (const double capacity : kCapacities) {
    EXPECT_NEAR(few.shared_hits.at(capacity), all.shared_reads.warm_hit_share(capacity), most)
        << capacity;
    if (capacity > 1000) continue;  // more than a worker's half of a window touches
    EXPECT_NEAR(few.private_hits.at(capacity), all.private_reads.warm_hit_share(capacity), most)
        << capacity;
  }
}

TEST(SampledReads, OfASmallMatrixAreAllOfThem) {
  const CsrMatrix a = random_pattern(3000, 1000, 16, 1);
  const DeviceProfile device = device_of(4, 8);
  const SampledReads reads = sampled(a, device, {});
  EXPECT_EQ(reads.looked_at, static_cast<double>(a.nnz()));
  const ReadProfile all = read_profile(a, device);
  for (const double capacity : {1.0, 24.0, 1024.0, 4096.0}) {
    EXPECT_DOUBLE_EQ(reads.shared_hits.at(capacity), all.shared_reads.warm_hit_share(capacity));
    EXPECT_DOUBLE_EQ(reads.private_hits.at(capacity), all.private_reads.warm_hit_share(capacity));
  }
  EXPECT_NEAR(forecast_spmm(device, reads, 4).seconds,
              forecast_spmm(device, read_profile(a, device), 4).seconds,
              0.02 * forecast_spmm(device, reads, 4).seconds);
}

TEST(SampledReads, StandForReadsThatAreNearOrAnywhere) {
  for (const DeviceProfile& device : {device_of(8, 8), device_of(4, 0), device_of(1, 0)}) {
    expect_near_the_whole(near_and_far(100000, 12, 0), device, 0.05);
    expect_near_the_whole(near_and_far(100000, 8, 4), device, 0.05);
    expect_near_the_whole(near_and_far(100000, 0, 12), device, 0.05);
  }
}

TEST(SampledReads, CurvesNeverFallAndEndAtOne) {
  SampleOptions options;
  options.windows = 2;
  options.reads_each = 10000;
  const SampledReads reads = sampled(near_and_far(50000, 6, 2), device_of(3, 4), options);
  for (const HitCurve* const curve : {&reads.private_hits, &reads.shared_hits}) {
    for (std::size_t i = 1; i < curve->shares.size(); ++i) {
      EXPECT_GE(curve->shares[i], curve->shares[i - 1]);
    }
    EXPECT_EQ(curve->shares.back(), 1);
  }
  EXPECT_EQ(reads.rows, 50000);
  EXPECT_EQ(reads.cols, 50000);
}

TEST(SampledReads, BetweenCapacitiesTheCurveIsLinear) {
  const HitCurve curve{{2, 4, 8}, {0.1, 0.5, 0.7}};
  EXPECT_EQ(curve.at(1), 0);
  EXPECT_DOUBLE_EQ(curve.at(2), 0.1);
  EXPECT_DOUBLE_EQ(curve.at(3), 0.3);
  EXPECT_DOUBLE_EQ(curve.at(6), 0.6);
  EXPECT_DOUBLE_EQ(curve.at(100), 0.7);
  EXPECT_EQ(HitCurve().at(5), 0);
}

TEST(SampledReads, NothingToRead) {
  DeviceProfile device = device_of(2, 8);
  device.fixed_seconds = 0.5;
  const SampledReads reads = sampled(CsrMatrix(), device, {});
  EXPECT_EQ(forecast_spmm(device, reads, 40).seconds, 0.5);
}

}  // namespace
}  // namespace csrkit
