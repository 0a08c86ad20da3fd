#include "core/matrix/sort/bucket_plan.h"

#include <algorithm>
#include <utility>

namespace csrkit {

namespace {

constexpr std::uint64_t kFineRanges = 8192;  // their counters, 64 KiB, stay in a core's cache
constexpr Offset kBuckets = 1024;            // more would outrun the TLB while scattering
constexpr Offset kMinWeight = 4096;          // less is not worth a task
constexpr Offset kMaxWeight = 1 << 16;       // more would leave a core's cache

}  // namespace

int bits_of(std::uint64_t number) {
  int bits = 0;
  while (number != 0) {
    number >>= 1;
    ++bits;
  }
  return bits;
}

Share share_of(Offset begin, Offset end, int thread, int threads) {
  const Offset each = (end - begin) / threads, rest = (end - begin) % threads;
  return {begin + each * thread + std::min<Offset>(thread, rest),
          begin + each * (thread + 1) + std::min<Offset>(thread + 1, rest)};
}

BucketPlan plan_buckets(const Index* rows, const Index* cols, const KeyBucket& whole, EntryKey key,
                        int threads) {
  BucketPlan plan;
  const std::uint64_t last = whole.high - whole.low - 1;
  while ((last >> plan.shift) >= kFineRanges) ++plan.shift;
  const auto ranges = static_cast<Offset>(last >> plan.shift) + 1;

  std::vector<Offset> counts(static_cast<std::size_t>(threads * ranges));
  with_range_of(key, whole.low, plan.shift, [&](auto range_of) {
  // The runtime may grant fewer threads than asked for; shares are what must all be done.
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
      Offset* mine = counts.data() + t * ranges;
      const Share share = share_of(whole.begin, whole.end, t, threads);
      for (Offset i = share.begin; i < share.end; ++i) ++mine[range_of(rows[i], cols + i)];
    }
  });

  // Weight counts entries and rows, since both cost time.
  const Offset rows_in_range =
      plan.shift >= key.col_bits ? Offset{1} << (plan.shift - key.col_bits) : 0;
  const Offset target = std::clamp(
      (whole.size() + rows_in_range * ranges + kBuckets - 1) / kBuckets, kMinWeight, kMaxWeight);
  plan.of_range.resize(static_cast<std::size_t>(ranges));
  KeyBucket bucket{whole.begin, whole.begin, whole.low, whole.low};
  Offset weight = 0;
  const auto close = [&] {
    plan.buckets.push_back(bucket);
    bucket = {bucket.end, bucket.end, bucket.high, bucket.high};
    weight = 0;
  };
  for (Offset range = 0; range < ranges; ++range) {
    Offset entries = 0;
    for (int t = 0; t < threads; ++t) entries += counts[t * ranges + range];
    if (entries + rows_in_range >= target && bucket.high > bucket.low) close();
    plan.of_range[range] = static_cast<std::uint16_t>(plan.buckets.size());
    bucket.end += entries;
    bucket.high = whole.low + std::min((static_cast<std::uint64_t>(range) + 1) << plan.shift,
                                       whole.high - whole.low);
    weight += entries + rows_in_range;
    if (weight >= target || range + 1 == ranges) close();
  }

  const auto count = static_cast<Offset>(plan.buckets.size());
  plan.next.resize(static_cast<std::size_t>(threads * count));
  for (int t = 0; t < threads; ++t) {
    for (Offset range = 0; range < ranges; ++range) {
      plan.next[t * count + plan.of_range[range]] += counts[t * ranges + range];
    }
  }
  for (Offset b = 0; b < count; ++b) {
    Offset position = plan.buckets[b].begin;
    for (int t = 0; t < threads; ++t) {
      position += std::exchange(plan.next[t * count + b], position);
    }
  }
  return plan;
}

}  // namespace csrkit
