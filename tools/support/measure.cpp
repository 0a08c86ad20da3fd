#include "tools/support/measure.h"

#include <algorithm>
#include <chrono>

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

Samples measure(int warmup, int repeat, const std::function<double()>& run_once,
                const std::function<void()>& before_each) {
  for (int i = 0; i < warmup; ++i) run_once();
  Samples samples;
  samples.seconds.reserve(static_cast<std::size_t>(repeat));
  for (int i = 0; i < repeat; ++i) {
    if (before_each) before_each();
    samples.seconds.push_back(run_once());
  }
  return samples;
}

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Stopwatch::Stopwatch() : start_(now()) {}

double Stopwatch::seconds() const { return now() - start_; }

}  // namespace csrkit
