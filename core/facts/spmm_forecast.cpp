#include "core/facts/spmm_forecast.h"

#include <algorithm>

#include "core/contract/spmm.h"

namespace csrkit {

namespace {

/// Where the price of a row of C lies between the price in a small C (0) and in one far larger than
/// the caches (1), if `bytes` are touched before the row is written again. It is taken to lie where
/// the price of a read at that distance lies between those of the nearest and the farthest read.
double share_streamed(const DistanceCost& cost, double bytes) {
  const auto& sizes = cost.up_to_bytes;
  const auto step = static_cast<std::size_t>(
      std::min(std::lower_bound(sizes.begin(), sizes.end(), bytes), sizes.end() - 1) -
      sizes.begin());
  const double nearest = cost.seconds_per_read.front(), farthest = cost.seconds_per_read.back();
  if (!(farthest > nearest)) return bytes > sizes.back() ? 1 : 0;
  return (cost.seconds_per_read[step] - nearest) / (farthest - nearest);
}

}  // namespace

ReadProfile read_profile(const CsrMatrix& matrix, const DeviceProfile& device,
                         const ReuseOptions& options) {
  ReuseOptions as_read = options;
  as_read.readers.workers = device.workers;
  as_read.readers.rows_per_turn = device.rows_per_turn;
  as_read.readers.has_private_caches = false;
  as_read.has_output_rows = true;
  ReadProfile profile;
  profile.rows = matrix.rows();
  profile.nnz = static_cast<double>(matrix.nnz());
  profile.shared_reads = reuse_profile(matrix, as_read);
  if (device.workers == 1) {
    profile.private_reads = profile.shared_reads;
  } else {
    as_read.readers.has_private_caches = true;
    profile.private_reads = reuse_profile(matrix, as_read);
  }
  return profile;
}

double b_row_bytes(const CsrMatrix& matrix, Index dense_cols) {
  return static_cast<double>(dense_cols) * size_of(default_spmm_problem(matrix, dense_cols).b);
}

HitShare hit_share(const DeviceProfile& device, const ReadProfile& reads, double row_bytes) {
  const double private_bytes = device.private_cache_bytes;
  return [&reads, private_bytes, row_bytes](double bytes) {
    const double own =
        reads.private_reads.warm_hit_share(std::min(bytes, private_bytes) / row_bytes);
    if (bytes <= private_bytes) return own;
    return std::max(own, reads.shared_reads.warm_hit_share(bytes / row_bytes));
  };
}

SpmmForecast forecast_spmm(const DeviceProfile& device, const ReadProfile& reads,
                           double row_bytes) {
  return forecast_spmm(device, hit_share(device, reads, row_bytes), reads.rows,
                       reads.shared_reads.first_reads(), reads.nnz, row_bytes);
}

SpmmForecast forecast_spmm(const DeviceProfile& device, const HitShare& hits, double rows,
                           double cols, double nnz, double row_bytes) {
  const GatherCurve curve = gather_curve(device, row_bytes / 4);
  const DistanceCost cost = distance_cost(curve);
  double nearer = 0, mean_seconds = 0;
  for (std::size_t step = 0; step < cost.up_to_bytes.size(); ++step) {
    const bool is_last = step + 1 == cost.up_to_bytes.size();
    const double share = is_last ? 1 : std::max(nearer, hits(cost.up_to_bytes[step]));
    mean_seconds += (share - nearer) * cost.seconds_per_read[step];
    nearer = share;
  }
  SpmmForecast forecast;
  forecast.reads_seconds = nnz * mean_seconds;
  const double between = (rows + cols) * row_bytes;
  forecast.rows_seconds = rows * (curve.seconds_per_output_row +
                                  share_streamed(cost, between) * (curve.seconds_per_streamed_row -
                                                                   curve.seconds_per_output_row));
  forecast.seconds = device.fixed_seconds + forecast.rows_seconds + forecast.reads_seconds;
  forecast.private_hit_share = hits(device.private_cache_bytes);
  forecast.hit_share = hits(std::max(device.private_cache_bytes, device.shared_cache_bytes));
  return forecast;
}

}  // namespace csrkit
