// Exceptions and OpenMP: one that leaves a region ends the process, so it is carried out by hand.
#pragma once

#include <atomic>
#include <exception>

namespace csrkit {

/// Keeps the first exception that a thread of a region throws; rethrow() throws it afterwards.
/// A thread allocates its own memory under guard, too: if that fails, no thread goes on working.
class TeamErrors {
 public:
  /// Calls work(), unless a thread has failed already.
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

  /// To be called after the region.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> has_error_{false};
  std::exception_ptr error_;
};

}  // namespace csrkit
