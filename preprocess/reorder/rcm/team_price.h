// Whether a team is worth waking, learned from what it has cost so far.
#pragma once

#include <algorithm>

namespace csrkit::reorder {

/// For work that comes in pieces of very different sizes. What a team costs beside its share of a
/// piece (waking, barriers, a thread whose core does other work) differs from machine to machine
/// and from minute to minute: from a microsecond to some time slices. So every piece is timed, and
/// the next is done by the team if that is expected to save more than the team has lately cost.
class TeamPrice {
 public:
  explicit TeamPrice(int threads) : threads_(threads) {}

  /// Whether the team should do a piece of `steps` steps, of some nanoseconds each. The caller then
  /// reports it by `took`.
  bool pays(double steps) {
    if (threads_ == 1 || steps < kFewestSteps) return false;
    if (alone(steps) - shared(steps) > price_) return true;
    price_ *= kRemembered;  // so that what was a moment's trouble is tried again
    return false;
  }

  /// Reports how long the piece took, by the team or by one thread.
  void took(double steps, double seconds, bool by_team) {
    if (by_team) {
      const double price = std::max(0.0, seconds - shared(steps));
      price_ = std::max(price, (price_ + price) / 2);
    } else if (steps >= kFewestTimed) {
      seconds_alone_ += seconds;
      steps_alone_ += steps;
    }
  }

  /// Fewer are not worth a clock.
  static constexpr double kFewestTimed = 1 << 12;

 private:
  // Half a millisecond or so. A team that sleeps may take ten to wake: the thread that wakes it
  // waits in a loop on the core that the kernel has chosen for the other.
  static constexpr double kFewestSteps = 1 << 17;
  static constexpr double kRemembered = 15.0 / 16;

  double alone(double steps) const { return steps * seconds_alone_ / steps_alone_; }
  double shared(double steps) const { return alone(steps) / threads_; }

  int threads_;
  double price_ = 0;
  // A step takes a nanosecond until it is known better.
  double seconds_alone_ = 1e-6, steps_alone_ = 1e3;
};

}  // namespace csrkit::reorder
