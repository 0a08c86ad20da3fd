// Tasks for a team: every thread has a run of neighbouring tasks, always the same ones, and helps
// the next thread when it is done. So rows stay with the core whose cache holds them and with the
// memory that their thread touched first, and no thread waits for a slow or late one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/types.h"

namespace csrkit::cpu {

/// Hands out the tasks [0, tasks) of each of `rounds` rounds, every one exactly once. A thread may
/// go on to the next round while others still work on the tasks of the last one.
class WorkShares {
 public:
  WorkShares(int threads, Offset rounds)
      : threads_(threads),
        shares_(std::make_unique<Share[]>(static_cast<std::size_t>(threads * rounds))),
        rounds_(rounds) {}

  std::uint64_t size_bytes() const {
    return static_cast<std::uint64_t>(threads_ * rounds_) * sizeof(Share);
  }

  /// To be called before every use, by one thread while no other is in `next`; fewer than 2^32
  /// tasks. The shares are not written here: that took a microsecond, because they lie in caches of
  /// other cores. The first thread at a share sees by its number that it is of an earlier use.
  void deal(Offset tasks) {
    tasks_ = tasks;
    firsts_ = nullptr;
    ++use_;
  }
  /// The same for shares of other sizes: a thread's begins at firsts[thread] and ends where the
  /// next one's begins, the last one at firsts[threads]. `firsts` is to stay where it is.
  void deal(const std::vector<Offset>& firsts) {
    firsts_ = firsts.data();
    ++use_;
  }

  /// Neighbouring tasks [first, last) of a round: a sixth of the rest of a share, so that there are
  /// few runs and the last ones are small. Empty if all tasks are handed out. With a third instead
  /// of a sixth, 16 threads waited for the last run for 3 % of a product.
  struct Run {
    Offset first = 0, last = 0;
  };
  Run next_run(Offset round, int thread) {
    return take(round, thread, [](Offset left) { return (left + 5) / 6; });
  }

  /// The thread's next task of a round, or -1 if all are handed out.
  Offset next(Offset round, int thread) {
    const Run run = take(round, thread, [](Offset) { return Offset{1}; });
    return run.first < run.last ? run.first : -1;
  }

 private:
  struct alignas(128) Share {             // two cache lines each: the machine fetches them in pairs
    std::atomic<std::uint64_t> state{0};  // the number of the use, and the next task in 32 bits
  };

  Offset first_of(int owner) const {
    return firsts_ != nullptr ? firsts_[owner] : tasks_ * owner / threads_;
  }

  template <class Size>
  Run take(Offset round, int thread, Size size_of) {
    constexpr int kTaskBits = 32;
    const std::uint64_t use = std::uint64_t{use_} << kTaskBits;
    int owner = thread;
    for (int step = 0; step < threads_; ++step, ++owner) {
      if (owner == threads_) owner = 0;
      auto& state = shares_[static_cast<std::size_t>(round * threads_ + owner)].state;
      const Offset end = first_of(owner + 1);
      std::uint64_t seen = state.load(std::memory_order_relaxed);
      for (;;) {
        const bool is_begun = seen >> kTaskBits == use_;
        const Offset first =
            is_begun ? static_cast<Offset>(static_cast<std::uint32_t>(seen)) : first_of(owner);
        if (first >= end) break;
        const Offset last = first + size_of(end - first);
        if (state.compare_exchange_weak(seen, use | static_cast<std::uint64_t>(last),
                                        std::memory_order_relaxed)) {
          return {first, last};
        }
      }
    }
    return {};
  }

  int threads_;
  std::unique_ptr<Share[]> shares_;
  Offset rounds_;
  Offset tasks_ = 0;
  const Offset* firsts_ = nullptr;  // or null: shares of as many tasks
  std::uint32_t use_ = 0;
};

}  // namespace csrkit::cpu
