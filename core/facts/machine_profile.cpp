#include "core/facts/machine_profile.h"

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw InputError(where + ": " + what + "; measure the machine again with csr-probe");
}

void require_positive(const std::string& where, const std::string& what, double value,
                      bool may_be_zero = false) {
  if (std::isfinite(value) && (value > 0 || (may_be_zero && value == 0))) return;
  refuse(where, what + " is " + rounded(value) + ", expected a " +
                    (may_be_zero ? "number of at least 0" : "positive number"));
}

void require_possible_rate(const std::string& where, const std::string& what, double rate) {
  if (rate <= kMostBytesPerSecond) return;
  refuse(where, what + " is a rate of " + std::to_string(rate / 1e9) +
                    " GB/s, which no machine has (at most " +
                    std::to_string(kMostBytesPerSecond / 1e9) + ")");
}

void require_seconds(const std::string& where, const std::string& what, double seconds,
                     bool may_be_zero = true) {
  require_positive(where, what, seconds, may_be_zero);
  if (seconds <= kMostSeconds) return;
  refuse(where, what + " is " + rounded(seconds) + ", expected at most " + rounded(kMostSeconds));
}

/// Seconds per read at a table size between the measured ones, linear in the logarithm of the size.
double seconds_at(const GatherCurve& curve, double bytes) {
  const auto& sizes = curve.table_bytes;
  if (bytes <= sizes.front()) return curve.seconds_per_read.front();
  if (bytes >= sizes.back()) return curve.seconds_per_read.back();
  const auto above =
      static_cast<std::size_t>(std::upper_bound(sizes.begin(), sizes.end(), bytes) - sizes.begin());
  const double share =
      std::log(bytes / sizes[above - 1]) / std::log(sizes[above] / sizes[above - 1]);
  return curve.seconds_per_read[above - 1] * (1 - share) + curve.seconds_per_read[above] * share;
}

}  // namespace

const DeviceProfile& MachineProfile::find(const std::string& device) const {
  std::string names;
  for (const DeviceProfile& profile : devices) {
    if (profile.device == device) return profile;
    append_item(names, profile.device);
  }
  throw UsageError("the machine profile has no device '" + device + "'; it has " +
                   (names.empty() ? "none" : names) + "; csr-probe measures what it was built for");
}

void validate(const MachineProfile& profile, const std::string& where) {
  for (const DeviceProfile& device : profile.devices) {
    const std::string place = where + ": device '" + device.device + "'";
    if (device.workers < 1) refuse(place, "workers is " + std::to_string(device.workers));
    if (device.rows_per_turn < 0) {
      refuse(place, "rows_per_turn is " + std::to_string(device.rows_per_turn));
    }
    require_positive(place, "private_cache_bytes", device.private_cache_bytes, true);
    require_positive(place, "shared_cache_bytes", device.shared_cache_bytes, true);
    require_positive(place, "memory_bytes", device.memory_bytes);
    require_positive(place, "copy_bytes_per_second", device.copy_bytes_per_second);
    require_possible_rate(place, "copy_bytes_per_second", device.copy_bytes_per_second);
    require_positive(place, "copy_spread", device.copy_spread, true);
    require_seconds(place, "fixed_seconds", device.fixed_seconds);
    require_positive(place, "fixed_spread", device.fixed_spread, true);
    if (device.gather.empty()) refuse(place, "gather is empty");
    Index narrower = 0;
    for (const GatherCurve& curve : device.gather) {
      const std::string at = place + ", gather at dense_cols " + std::to_string(curve.dense_cols);
      if (curve.dense_cols <= narrower) {
        refuse(at, "widths are expected in ascending order, from 1");
      }
      narrower = curve.dense_cols;
      require_seconds(at, "seconds_per_output_row", curve.seconds_per_output_row);
      require_seconds(at, "seconds_per_streamed_row", curve.seconds_per_streamed_row);
      require_positive(at, "output_row_spread", curve.output_row_spread, true);
      require_positive(at, "streamed_row_spread", curve.streamed_row_spread, true);
      if (curve.table_bytes.empty() || curve.table_bytes.size() != curve.seconds_per_read.size()) {
        refuse(at, "table_bytes has " + counted(curve.table_bytes.size(), "number") +
                       " and seconds_per_read " + std::to_string(curve.seconds_per_read.size()) +
                       ", expected equally many, at least 1");
      }
      if (!curve.spread.empty() && curve.spread.size() != curve.table_bytes.size()) {
        refuse(at, "spread has " + counted(curve.spread.size(), "number") +
                       ", expected one for each of table_bytes, or none");
      }
      for (const double spread : curve.spread) require_positive(at, "spread", spread, true);
      double smaller = 0;
      for (std::size_t i = 0; i < curve.table_bytes.size(); ++i) {
        require_positive(at, "a number of table_bytes", curve.table_bytes[i]);
        require_seconds(at, "a number of seconds_per_read", curve.seconds_per_read[i], false);
        require_possible_rate(at, "a number of seconds_per_read",
                              4.0 * curve.dense_cols / curve.seconds_per_read[i]);
        if (curve.table_bytes[i] <= smaller) refuse(at, "table_bytes does not ascend");
        smaller = curve.table_bytes[i];
      }
    }
  }
}

GatherCurve gather_curve(const DeviceProfile& device, double dense_cols) {
  const auto& curves = device.gather;
  const auto wider = std::find_if(curves.begin(), curves.end(), [&](const GatherCurve& curve) {
    return curve.dense_cols >= dense_cols;
  });
  if (wider == curves.begin()) return curves.front();
  if (wider == curves.end()) {
    GatherCurve curve = curves.back();
    const double scale = dense_cols / curve.dense_cols;
    for (double& seconds : curve.seconds_per_read) seconds *= scale;
    curve.seconds_per_output_row *= scale;
    curve.seconds_per_streamed_row *= scale;
    return curve;
  }
  const GatherCurve &high = *wider, &low = *(wider - 1);
  const double share = (dense_cols - low.dense_cols) / (high.dense_cols - low.dense_cols);
  GatherCurve curve;
  curve.dense_cols = static_cast<Index>(std::lround(dense_cols));
  curve.seconds_per_output_row =
      low.seconds_per_output_row * (1 - share) + high.seconds_per_output_row * share;
  curve.seconds_per_streamed_row =
      low.seconds_per_streamed_row * (1 - share) + high.seconds_per_streamed_row * share;
  curve.table_bytes = high.table_bytes;
  for (const double bytes : curve.table_bytes) {
    curve.seconds_per_read.push_back(seconds_at(low, bytes) * (1 - share) +
                                     seconds_at(high, bytes) * share);
  }
  return curve;
}

DistanceCost distance_cost(const GatherCurve& curve) {
  struct Step {
    double up_to, width, area;  // cost = area / width
    double cost() const { return area / width; }
  };
  std::vector<Step> steps;
  double bytes = 0, area = 0;
  for (std::size_t i = 0; i < curve.table_bytes.size(); ++i) {
    const double total = curve.table_bytes[i] * curve.seconds_per_read[i];
    steps.push_back({curve.table_bytes[i], curve.table_bytes[i] - bytes, total - area});
    bytes = curve.table_bytes[i];
    area = total;
    while (steps.size() > 1 && steps.back().cost() < steps[steps.size() - 2].cost()) {
      const Step last = steps.back();
      steps.pop_back();
      steps.back() = {last.up_to, steps.back().width + last.width, steps.back().area + last.area};
    }
  }
  DistanceCost cost;
  for (const Step& step : steps) {
    cost.up_to_bytes.push_back(step.up_to);
    cost.seconds_per_read.push_back(step.cost());
  }
  return cost;
}

}  // namespace csrkit
