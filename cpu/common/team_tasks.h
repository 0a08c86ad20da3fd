// The tasks of cut rows for the threads of a team, where a product goes through them once.
#pragma once

#include "cpu/common/resident_team.h"
#include "cpu/common/row_cuts.h"
#include "cpu/common/work_shares.h"

namespace csrkit::cpu {

/// Every thread has neighbouring tasks of its own, always the same ones. Where they are many, it
/// helps others when it is done.
class TeamTasks {
 public:
  explicit TeamTasks(int threads) : threads_(threads), shares_(threads, 1) {}

  std::uint64_t size_bytes() const { return shares_.size_bytes(); }

  /// To be called once, before the others.
  void take(const CsrMatrix& a, const RowCuts& cuts) {
    tasks_ = static_cast<Offset>(cuts.tasks.size());
    are_helped_ = tasks_ > kTasksWithoutHelp * threads_;
    if (!are_helped_) even_shares_ = EvenShares(a, cuts);
  }

  /// Calls run(task) for the numbers of all tasks, by that many threads of the team. `run` must not
  /// throw; it is copied, so that threads find everything side by side.
  template <class Run>
  void run(int threads, const Run& run) {
    if (threads == 1 || !are_helped_) {
      in_team(threads, [this, run](int thread, int count) { for_own(thread, count, run); });
      return;
    }
    shares_.deal(tasks_);
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
  /// With at most this many tasks a thread, threads do not help each other: to look for a task, and
  /// to move its rows into another core's cache, takes longer than to wait.
  static constexpr Offset kTasksWithoutHelp = 4;

  Offset first_task(int thread, int threads) const {
    return are_helped_ ? tasks_ * thread / threads : even_shares_.first_task(thread, threads);
  }
  template <class Body>
  void for_own(int thread, int threads, const Body& body) const {
    const Offset end = first_task(thread + 1, threads);
    for (Offset n = first_task(thread, threads); n < end; ++n) body(n);
  }

  int threads_;
  Offset tasks_ = 0;
  bool are_helped_ = false;
  EvenShares even_shares_;  // if they are not
  WorkShares shares_;
};

}  // namespace csrkit::cpu
