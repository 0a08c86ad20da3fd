// Tasks for a team: every thread has a run of neighbouring tasks of its own, always the same one,
// and helps the next thread when it is done. So rows stay with the core that has them in its cache
// and with the memory that their thread touched first, and nobody waits for a slow or late thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

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

  /// Before every use, by one thread while no other is in `next`.
  void deal(Offset tasks) {
    for (Offset n = 0; n < rounds_ * threads_; ++n) {
      const Offset thread = n % threads_;
      shares_[static_cast<std::size_t>(n)].next.store(tasks * thread / threads_,
                                                      std::memory_order_relaxed);
      shares_[static_cast<std::size_t>(n)].end = tasks * (thread + 1) / threads_;
    }
  }

  /// Neighbouring tasks [first, last) of a round: a third of what is left of a share, so that few
  /// are begun and the last ones are small. Empty if all are handed out.
  struct Run {
    Offset first = 0, last = 0;
  };
  Run next_run(Offset round, int thread) {
    for (int step = 0; step < threads_; ++step) {
      const int owner = (thread + step) % threads_;
      Share& share = shares_[static_cast<std::size_t>(round * threads_ + owner)];
      Offset first = share.next.load(std::memory_order_relaxed);
      while (first < share.end) {
        const Offset last = first + (share.end - first + 2) / 3;
        if (share.next.compare_exchange_weak(first, last, std::memory_order_relaxed)) {
          return {first, last};
        }
      }
    }
    return {};
  }

  /// The thread's next task of a round, or -1 if all are handed out.
  Offset next(Offset round, int thread) {
    for (int step = 0; step < threads_; ++step) {
      const int owner = (thread + step) % threads_;
      Share& share = shares_[static_cast<std::size_t>(round * threads_ + owner)];
      if (share.next.load(std::memory_order_relaxed) >= share.end) continue;
      const Offset task = share.next.fetch_add(1, std::memory_order_relaxed);
      if (task < share.end) return task;
    }
    return -1;
  }

 private:
  struct alignas(128) Share {  // two cache lines each: the machine fetches them in pairs
    std::atomic<Offset> next{0};
    Offset end = 0;
  };

  int threads_;
  std::unique_ptr<Share[]> shares_;
  Offset rounds_;
};

}  // namespace csrkit::cpu
