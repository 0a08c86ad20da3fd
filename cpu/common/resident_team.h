// Work for all threads of a team, and a team that stays awake between pieces of work.
#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/types.h"

namespace csrkit::cpu {

/// A team whose threads wait in a loop for the work that in_team gives them. With 16 threads an
/// OpenMP region takes several microseconds to start and end, this about one. It is for solvers,
/// whose pieces of work are short and come one after the other.
class ResidentTeam {
 public:
  /// Calls lead() once, on this thread, and returns or throws what lead() does. Every
  /// in_team(threads, ...) that lead() calls runs on the resident team; OpenMP regions in lead()
  /// have one thread. If `threads` exceed the processors, there is no resident team: its threads
  /// would have to take turns.
  static void lead(int threads, const std::function<void()>& lead);

  /// The team that this thread leads, or null.
  static ResidentTeam* current();

  /// The number that `lead` was given.
  int threads_asked() const { return threads_asked_; }

  /// Calls call(body, thread, threads) on every thread, this one being 0, and waits for all. It
  /// must not throw.
  void run(void (*call)(const void* body, int thread, int threads), const void* body);

 private:
  struct alignas(64) Finished {  // a cache line for each thread
    std::atomic<std::uint32_t> works{0};
  };

  explicit ResidentTeam(int threads_asked);
  void follow(int thread);

  int threads_asked_;
  int threads_ = 1;
  std::unique_ptr<Finished[]> finished_;
  // Together, because the threads read all of it at once.
  alignas(64) std::atomic<std::uint32_t> posted_{0};
  void (*call_)(const void*, int, int) = nullptr;  // null: the end
  const void* body_ = nullptr;
};

/// Where the share of a thread begins in [0, size); it ends where the next one's begins.
inline Index begin_of_share(Index size, int thread, int threads) {
  return static_cast<Index>(Offset{size} * thread / threads);
}

/// Calls body(thread, threads) on every thread of a team of at most `threads`, and waits for all:
/// on the resident team if there is one. `body` must not throw, nor contain directives of OpenMP
/// that bind to a team (barrier, for, single).
template <class Body>
void in_team(int threads, const Body& body) {
  if (threads == 1) {
    body(0, 1);
    return;
  }
  ResidentTeam* const team = ResidentTeam::current();
  if (team != nullptr && team->threads_asked() == threads) {
    team->run([](const void* of, int thread,
                 int count) { (*static_cast<const Body*>(of))(thread, count); },
              &body);
    return;
  }
#pragma omp parallel num_threads(threads)
  body(omp_get_thread_num(), omp_get_num_threads());
}

}  // namespace csrkit::cpu
