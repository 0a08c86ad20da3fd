#include "tools/operation/product/measure.h"

#include <algorithm>
#include <cmath>

namespace csrkit {

double Samples::median_seconds() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Samples::min_seconds() const {
  return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

double Samples::spread() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](std::size_t quarters) {  // nearest rank
    return sorted[(sorted.size() * quarters + 3) / 4 - 1];
  };
  const double median = median_seconds();
  return median > 0 ? (quantile(3) - quantile(1)) / median : 0;
}

Interval Samples::median_interval() const {
  if (seconds.empty()) return {};
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  // The number of samples below the true median is binomial with p = 1/2: about n/2 +- 0.98
  // sqrt(n).
  const auto count = static_cast<double>(sorted.size());
  const auto below =
      static_cast<std::ptrdiff_t>(std::floor(count / 2 - 1.96 * std::sqrt(count) / 2));
  const auto low = static_cast<std::size_t>(std::max<std::ptrdiff_t>(below - 1, 0));
  return {sorted[low], sorted[sorted.size() - 1 - low]};
}

double Samples::median_uncertainty() const {
  const double median = median_seconds();
  const Interval interval = median_interval();
  return median > 0 ? (interval.high - interval.low) / 2 / median : 0;
}

bool is_enough(const StoppingRule& rule, const Samples& samples, double seconds) {
  const int taken = static_cast<int>(samples.seconds.size());
  if (taken < rule.repeat) return false;
  if (rule.uncertainty <= 0 || taken >= rule.max_repeat) return true;
  if (seconds >= rule.max_seconds) return true;
  // One sample, or a few, agree with themselves by chance; 6 ranks make the first interval.
  return taken >= 6 && samples.median_uncertainty() <= rule.uncertainty;
}

Samples measure(int warmup, int repeat, const std::function<double()>& run_once,
                const std::function<void()>& before_each) {
  return measure(warmup, StoppingRule{repeat, 0, repeat, 0}, run_once, before_each);
}

Samples measure(int warmup, const StoppingRule& rule, const std::function<double()>& run_once,
                const std::function<void()>& before_each) {
  for (int i = 0; i < warmup; ++i) run_once();
  const Stopwatch watch;
  Samples samples;
  samples.seconds.reserve(static_cast<std::size_t>(rule.repeat));
  while (!is_enough(rule, samples, watch.seconds())) {
    if (before_each) before_each();
    samples.seconds.push_back(run_once());
  }
  return samples;
}

}  // namespace csrkit
