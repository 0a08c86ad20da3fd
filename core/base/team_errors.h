// Exceptions and OpenMP: what leaves a region ends the process, so it is carried out by hand.
#pragma once

#include <atomic>
#include <exception>

namespace csrkit {

/// Keeps the first exception that the threads of a region meet, to be thrown again behind it. What
/// a thread needs for itself is made under guard, too: if that fails, nobody works on.
class TeamErrors {
 public:
  /// Works, unless a thread has failed already.
  template <class Work>
  void guard(Work&& work) noexcept {
    if (has_error()) return;
    try {
      work();
    } catch (...) {
      if (!has_error_.exchange(true)) error_ = std::current_exception();
    }
  }

  /// Whether a thread has failed already, and the others may stop.
  bool has_error() const noexcept { return has_error_.load(std::memory_order_relaxed); }

  /// Behind the region only.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> has_error_{false};
  std::exception_ptr error_;
};

}  // namespace csrkit
