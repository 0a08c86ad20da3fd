#include "cpu/common/resident_team.h"

#include <exception>
#include <thread>

namespace csrkit::cpu {

namespace {

thread_local ResidentTeam* current_team = nullptr;

void rest_a_moment() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits for another thread: spins for about a millisecond, then yields the processor in every
/// turn.
template <class Condition>
void wait_until(const Condition& holds) {
  constexpr int kAwake = 1 << 14;
  for (int turn = 0; !holds(); ++turn) {
    if (turn < kAwake) {
      rest_a_moment();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

ResidentTeam* ResidentTeam::current() { return current_team; }

ResidentTeam::ResidentTeam(int threads_asked)
    : threads_asked_(threads_asked),
      finished_(std::make_unique<Finished[]>(static_cast<std::size_t>(threads_asked))) {}

void ResidentTeam::lead(int threads, const std::function<void()>& lead) {
  if (threads == 1 || threads > omp_get_num_procs() || omp_in_parallel() != 0) {
    lead();
    return;
  }
  ResidentTeam team(threads);
  std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
      team.threads_ = omp_get_num_threads();
      current_team = &team;
      try {
        lead();
      } catch (...) {
        failure = std::current_exception();
      }
      current_team = nullptr;
      team.call_ = nullptr;
      team.posted_.fetch_add(1, std::memory_order_release);
    } else {
      team.follow(omp_get_thread_num());
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void ResidentTeam::run(void (*call)(const void*, int, int), const void* body) {
  call_ = call;
  body_ = body;
  const std::uint32_t work = posted_.load(std::memory_order_relaxed) + 1;
  posted_.store(work, std::memory_order_release);
  call(body, 0, threads_);
  for (int thread = 1; thread < threads_; ++thread) {
    const Finished& finished = finished_[static_cast<std::size_t>(thread)];
    wait_until([&] { return finished.works.load(std::memory_order_acquire) == work; });
  }
}

void ResidentTeam::follow(int thread) {
  Finished& finished = finished_[static_cast<std::size_t>(thread)];
  for (std::uint32_t work = 1;; ++work) {
    wait_until([&] { return posted_.load(std::memory_order_acquire) == work; });
    if (call_ == nullptr) return;
    call_(body_, thread, threads_);
    finished.works.store(work, std::memory_order_release);
  }
}

}  // namespace csrkit::cpu
