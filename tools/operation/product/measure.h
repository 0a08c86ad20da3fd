// What counts as time: warm up, repeat, keep every sample, report the median.
#pragma once

#include <functional>
#include <vector>

#include "core/base/stopwatch.h"

namespace csrkit {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Samples {
  std::vector<double> seconds;  // in the order in which they were taken

  double median_seconds() const;
  double min_seconds() const;
  /// The middle half of the samples, (75 % - 25 %) / median: how far apart runs usually are. One
  /// disturbed run does not change it. 0 for one sample.
  double spread() const;
  /// Where the true median lies with a confidence of 95 %, from the ranks of the samples alone (no
  /// shape of their distribution is assumed). With fewer than 6 samples: from the least to the
  /// most.
  Interval median_interval() const;
  /// Half the width of that interval over the median: 0.02 reads "the median, give or take 2 %".
  double median_uncertainty() const;
};

/// When to stop measuring. With `uncertainty` 0, after `repeat` samples. Otherwise `repeat` is the
/// least, and it goes on until the median is known that well, `max_repeat` samples are there or
/// `max_seconds` of wall-clock time are spent on samples.
struct StoppingRule {
  int repeat = 10;
  double uncertainty = 0;
  int max_repeat = 1000;
  double max_seconds = 10;
};

/// Whether these samples, taken within `seconds` of wall-clock time, are all that the rule asks
/// for.
bool is_enough(const StoppingRule& rule, const Samples& samples, double seconds);

/// Calls `run_once` `warmup` times for nothing and `repeat` times for a sample each; it returns the
/// seconds it took by its own clock. `before_each`, if any, comes before every sample, untimed.
Samples measure(int warmup, int repeat, const std::function<double()>& run_once,
                const std::function<void()>& before_each = {});
Samples measure(int warmup, const StoppingRule& rule, const std::function<double()>& run_once,
                const std::function<void()>& before_each = {});

}  // namespace csrkit
