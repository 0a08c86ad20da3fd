// What counts as time: warm up, repeat, keep every sample, report the median.
#pragma once

#include <functional>
#include <vector>

namespace csrkit {

struct Samples {
  std::vector<double> seconds;  // in the order in which they were taken

  double median_seconds() const;
  double min_seconds() const;
  /// The middle half of the samples, (75 % - 25 %) / median: how far apart runs usually are. One
  /// disturbed run does not change it. 0 for one sample.
  double spread() const;
};

/// Calls `run_once` `warmup` times for nothing and `repeat` times for a sample each; it returns the
/// seconds it took by its own clock. `before_each`, if any, comes before every sample, untimed.
Samples measure(int warmup, int repeat, const std::function<double()>& run_once,
                const std::function<void()>& before_each = {});

/// Wall-clock seconds since it was made.
class Stopwatch {
 public:
  Stopwatch();
  double seconds() const;

 private:
  double start_;
};

}  // namespace csrkit
