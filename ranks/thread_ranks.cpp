#include "ranks/thread_ranks.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "core/base/counted.h"

namespace csrkit::ranks {

namespace {

/// What the ranks share. One lock is enough: messages are few and large, and their bytes are copied
/// outside of it.
class World {
 public:
  explicit World(int size)
      : size_(size), letters_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)) {}

  int size() const { return size_; }

  enum class State { posted, copied, taken };
  struct Letter {
    const void* data = nullptr;
    std::uint64_t bytes = 0;
    State state = State::posted;
  };

  /// The letter stays with the sender, which keeps it until it was taken.
  void post(int from, int to, Letter* letter) {
    const std::lock_guard lock(mutex_);
    box(from, to).push_back(letter);
    changed_.notify_all();
  }

  void take(int from, int to, void* data, std::uint64_t bytes) {
    Letter* letter = nullptr;
    {
      std::unique_lock lock(mutex_);
      await(lock, [&] { return !box(from, to).empty(); });
      letter = box(from, to).front();
      if (letter->bytes != bytes) {
        throw Error("rank " + std::to_string(from) + " sent " + counted(letter->bytes, "byte") +
                    " to rank " + std::to_string(to) + ", which expected " + std::to_string(bytes));
      }
      box(from, to).pop_front();
      letter->state = State::copied;
    }
    std::memcpy(data, letter->data, bytes);
    const std::lock_guard lock(mutex_);
    letter->state = State::taken;
    changed_.notify_all();
  }

  void await_taken(const std::deque<Letter>& letters) {
    std::unique_lock lock(mutex_);
    await(lock, [&] { return none_is(State::posted, letters) && none_is(State::copied, letters); });
  }

  std::vector<std::string> gather(int rank, const std::string& mine) {
    std::unique_lock lock(mutex_);
    // The texts of a round stay until all have arrived at the next one.
    const std::uint64_t round = round_;
    if (arrived_ == 0) texts_.assign(static_cast<std::size_t>(size_), {});
    texts_[static_cast<std::size_t>(rank)] = mine;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      complete_ = texts_;
      changed_.notify_all();
    } else {
      await(lock, [&] { return round_ != round; });
    }
    return complete_;
  }

  /// Ranks that arrive at about the same time wait without sleeping: waking up takes longer than a
  /// short product.
  void barrier() {
    const std::uint64_t round = barrier_round_.load(std::memory_order_acquire);
    if (barrier_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      barrier_arrived_.store(0, std::memory_order_relaxed);
      const std::lock_guard lock(mutex_);
      barrier_round_.store(round + 1, std::memory_order_release);
      changed_.notify_all();
      return;
    }
    for (int look = 0; look < kLooks; ++look) {
      if (barrier_round_.load(std::memory_order_acquire) != round) return;
      relax();
    }
    std::unique_lock lock(mutex_);
    await(lock, [&] { return barrier_round_.load(std::memory_order_acquire) != round; });
  }

  /// No rank begins to read the letters after this call; returns when none reads them.
  void fail(int rank, const std::deque<Letter>& letters) noexcept {
    std::unique_lock lock(mutex_);
    if (lost_ < 0) lost_ = rank;
    changed_.notify_all();
    changed_.wait(lock, [&] { return none_is(State::copied, letters); });
  }

 private:
  /// Some 50 us where every rank has a processor.
  static constexpr int kLooks = 1000;

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }

  static bool none_is(State state, const std::deque<Letter>& letters) {
    return std::none_of(letters.begin(), letters.end(),
                        [&](const Letter& letter) { return letter.state == state; });
  }

  std::deque<Letter*>& box(int from, int to) {
    return letters_[static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) +
                    static_cast<std::size_t>(to)];
  }

  template <class Ready>
  void await(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    changed_.wait(lock, [&] { return lost_ >= 0 || ready(); });
    if (lost_ >= 0) throw RankLost("rank " + std::to_string(lost_) + " failed");
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<Letter*>> letters_;
  std::vector<std::string> texts_, complete_;
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  std::atomic<int> barrier_arrived_{0};
  std::atomic<std::uint64_t> barrier_round_{0};
  int lost_ = -1;
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(World& world, int rank) : world_(world), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.size(); }

  void start(const std::vector<Outgoing>& outgoing,
             const std::vector<Incoming>& incoming) override {
    sent_.clear();
    for (const Outgoing& message : outgoing) {
      if (message.bytes == 0) continue;
      sent_.push_back({message.data, message.bytes});
      world_.post(rank_, message.to, &sent_.back());
    }
    incoming_ = incoming;
  }

  void finish() override {
    for (const Incoming& message : incoming_) {
      if (message.bytes > 0) world_.take(message.from, rank_, message.data, message.bytes);
    }
    world_.await_taken(sent_);
  }

  std::vector<std::string> gather(const std::string& mine) override {
    return world_.gather(rank_, mine);
  }
  void barrier() override { world_.barrier(); }
  void abandon() noexcept override { world_.fail(rank_, sent_); }
  void fail(int) noexcept override { world_.fail(rank_, sent_); }

 private:
  World& world_;
  int rank_;
  std::deque<World::Letter> sent_;  // letters do not move while the deque grows
  std::vector<Incoming> incoming_;
};

/// Throws the first failure that is a rank's own, or else a RankLost.
void rethrow_first(const std::vector<std::exception_ptr>& failures) {
  std::exception_ptr echo;
  for (const std::exception_ptr& failure : failures) {
    if (failure == nullptr) continue;
    try {
      std::rethrow_exception(failure);
    } catch (const RankLost&) {
      echo = failure;
    } catch (...) {
      throw;
    }
  }
  if (echo != nullptr) std::rethrow_exception(echo);
}

/// A thread that ends also ends its OpenMP team, by pthread_exit. For that glibc opens this
/// library, and ends the process if it lacks the memory. An open library needs none.
void open_unwinder() {
  static void* const library = dlopen("libgcc_s.so.1", RTLD_NOW);
  if (library == nullptr && errno == ENOMEM) throw std::bad_alloc();
}

}  // namespace

void run_as_threads(int count, const std::function<void(Communicator&)>& body) {
  if (count > 1) open_unwinder();
  World world(count);
  std::deque<ThreadRank> ranks;  // they do not move while it grows
  for (int number = 0; number < count; ++number) ranks.emplace_back(world, number);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  const auto run = [&](int number) {
    ThreadRank& rank = ranks[static_cast<std::size_t>(number)];
    try {
      body(rank);
    } catch (...) {
      failures[static_cast<std::size_t>(number)] = std::current_exception();
      rank.fail(0);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  try {
    for (int number = 1; number < count; ++number) threads.emplace_back(run, number);
    run(0);
  } catch (...) {  // no more threads, or no memory for one: those that run must not wait for ever
    failures[0] = std::current_exception();
    world.fail(0, {});
  }
  for (std::thread& thread : threads) thread.join();
  rethrow_first(failures);
}

}  // namespace csrkit::ranks
