// The tasks of cut rows for the threads of a team, where a product goes through them once.
#pragma once

#include "cpu/common/resident_team.h"
#include "cpu/common/row_cuts.h"
#include "cpu/common/work_shares.h"

namespace csrkit::cpu {

/// Every thread has neighbouring tasks of its own, of about as much work as those of any other,
/// always the same ones. Where they are many, it helps others when it is done.
class TeamTasks {
 public:
  explicit TeamTasks(int threads) : threads_(threads), shares_(threads, 1) {}

  std::uint64_t size_bytes() const {
    return shares_.size_bytes() + static_cast<std::uint64_t>(threads_ + 1) * sizeof(Offset);
  }

  /// To be called once, before the others.
  void take(const CsrMatrix& a, const RowCuts& cuts) {
    const Offset pieces = static_cast<Offset>(cuts.tasks.size()) - cuts.small_tasks;
    are_helped_ = pieces > kPiecesWithoutHelp * threads_;
    even_shares_ = EvenShares(a, cuts);
    for (int thread = 0; thread <= threads_; ++thread) {
      firsts_.push_back(even_shares_.first_task(thread, threads_));
    }
  }

  /// Calls run(task) for the numbers of all tasks, by that many threads of the team. `run` must not
  /// throw; it is copied, so that threads find everything side by side.
  template <class Run>
  void run(int threads, const Run& run) {
    if (threads == 1 || !are_helped_) {
      in_team(threads, [this, run](int thread, int count) { for_own(thread, count, run); });
      return;
    }
    shares_.deal(firsts_);
    in_team(threads, [this, run](int thread, int) {
      for (Offset n = shares_.next(0, thread); n >= 0; n = shares_.next(0, thread)) run(n);
    });
  }

  /// Calls fill(task) for all of them, by the thread that will begin with them: a page belongs to
  /// the memory of the thread that touches it first. `fill` must not throw.
  template <class Fill>
  void by_owners(const Fill& fill) const {
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (int thread = 0; thread < threads_; ++thread) for_own(thread, threads_, fill);
  }

 private:
  /// With at most this many pieces a thread, threads do not help each other: to look for a task,
  /// and to move its rows into another core's cache, takes longer than to wait.
  static constexpr Offset kPiecesWithoutHelp = 4;

  template <class Body>
  void for_own(int thread, int threads, const Body& body) const {
    const Offset end = even_shares_.first_task(thread + 1, threads);
    for (Offset n = even_shares_.first_task(thread, threads); n < end; ++n) body(n);
  }

  int threads_;
  bool are_helped_ = false;
  EvenShares even_shares_;
  std::vector<Offset> firsts_;  // the first tasks of the shares of all threads_, and the end
  WorkShares shares_;
};

}  // namespace csrkit::cpu
