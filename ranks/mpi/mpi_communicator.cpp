// Ranks over MPI: processes on one machine or many. The only file that names MPI.
#include <csrkit_build_id.h>  // made at build time
#include <mpi.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ranks/mpi_face.h"

namespace csrkit::ranks {

namespace {

// MPI counts in int. Between two ranks messages keep their order, so one tag serves all pieces.
constexpr std::uint64_t kPieceBytes = 1u << 30;
constexpr int kTag = 1;
// How often MPI is called so that messages move on. Each call takes a microsecond: 2 % of a core.
constexpr std::chrono::microseconds kProgressInterval{50};

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string("MPI: ") + what + ": " + text);
}

/// Calls `step` again and again from a thread of its own between resume() and pause(): MPI moves
/// large messages only while some thread calls it, and this rank's team is busy computing.
class ProgressThread {
 public:
  explicit ProgressThread(std::function<bool()> step)
      : step_(std::move(step)), thread_([this] { run(); }) {}
  ~ProgressThread() {
    {
      const std::lock_guard lock(mutex_);
      state_ = State::ended;
    }
    changed_.notify_all();
    thread_.join();
  }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  void resume() {
    {
      const std::lock_guard lock(mutex_);
      state_ = State::running;
    }
    changed_.notify_all();
  }
  /// When it returns, no step is under way and none follows.
  void pause() {
    const std::lock_guard lock(mutex_);
    state_ = State::paused;
  }

 private:
  enum class State { paused, running, ended };

  void run() {
    std::unique_lock lock(mutex_);
    while (state_ != State::ended) {
      if (state_ == State::paused) {
        changed_.wait(lock);
      } else if (step_()) {
        state_ = State::paused;
      } else {
        changed_.wait_for(lock, kProgressInterval);
      }
    }
  }

  std::function<bool()> step_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::paused;
  std::thread thread_;
};

/// Notices at once that another rank's process on this host is gone. MPI itself may wait for it for
/// ever: shared memory has no end of file, and srun lets the other tasks live.
class Watch {
 public:
  using OnLost = std::function<void(int rank)>;

  Watch(const std::vector<std::pair<int, pid_t>>& neighbours, OnLost on_lost)
      : on_lost_(std::move(on_lost)) {
    if (::pipe(wake_) != 0) throw IoError("a pipe for the watch over other ranks cannot be made");
    for (const auto& [rank, process] : neighbours) {
      const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
      if (descriptor >= 0) watched_.push_back({rank, descriptor});
    }
    thread_ = std::thread([this] { run(); });
  }
  ~Watch() {
    is_over_ = true;
    if (::write(wake_[1], "", 1) == 1) thread_.join();
    for (const auto& [rank, descriptor] : watched_) ::close(descriptor);
    ::close(wake_[0]);
    ::close(wake_[1]);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void run() {
    std::vector<pollfd> polled = {{wake_[0], POLLIN, 0}};
    for (const auto& [rank, descriptor] : watched_) polled.push_back({descriptor, POLLIN, 0});
    while (::poll(polled.data(), polled.size(), -1) <= 0) {
    }
    if (is_over_) return;
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents != 0) return on_lost_(watched_[i - 1].first);
    }
  }

  OnLost on_lost_;
  std::vector<std::pair<int, int>> watched_;  // rank, descriptor of its process
  int wake_[2] = {-1, -1};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

class MpiRank : public Communicator {
 public:
  MpiRank(int lost_exit_code, const OnRankLost& on_lost) {
    int provided = 0;
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    watch_neighbours(lost_exit_code, on_lost);
    // If MPI allows no calls from another thread, messages move only while this rank waits.
    if (provided >= MPI_THREAD_SERIALIZED) {
      progress_ = std::make_unique<ProgressThread>([this] {
        int is_done = 0;
        const int count = static_cast<int>(requests_.size());
        // An error shows again in finish(), which can throw.
        return MPI_Testall(count, requests_.data(), &is_done, MPI_STATUSES_IGNORE) != MPI_SUCCESS ||
               is_done != 0;
      });
    }
  }

  ~MpiRank() override {
    progress_.reset();
    // No neighbour ends before all have stopped watching.
    if (watch_ != nullptr) MPI_Barrier(MPI_COMM_WORLD);
    watch_.reset();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void start(const std::vector<Outgoing>& outgoing,
             const std::vector<Incoming>& incoming) override {
    requests_.clear();
    for (const Incoming& message : incoming) {
      auto* const data = static_cast<char*>(message.data);
      each_piece(message.bytes, [&](std::uint64_t at, int bytes) {
        return MPI_Irecv(data + at, bytes, MPI_BYTE, message.from, kTag, MPI_COMM_WORLD,
                         new_request());
      });
    }
    for (const Outgoing& message : outgoing) {
      const auto* const data = static_cast<const char*>(message.data);
      each_piece(message.bytes, [&](std::uint64_t at, int bytes) {
        return MPI_Isend(data + at, bytes, MPI_BYTE, message.to, kTag, MPI_COMM_WORLD,
                         new_request());
      });
    }
    if (progress_ != nullptr && !requests_.empty()) progress_->resume();
  }

  void finish() override {
    if (progress_ != nullptr) progress_->pause();
    require(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
            "an exchange between ranks failed");
    requests_.clear();
  }

  std::vector<std::string> gather(const std::string& mine) override {
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_)), places(lengths.size());
    require(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD),
            "gathering sizes failed");
    std::int64_t total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      places[i] = static_cast<int>(total);
      total += lengths[i];
    }
    if (total > INT32_MAX) throw Error("MPI: ranks gather more than 2 GiB at once");
    std::string all(static_cast<std::size_t>(total), '\0');
    require(MPI_Allgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(),
                           MPI_BYTE, MPI_COMM_WORLD),
            "gathering failed");
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      texts.push_back(
          all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
    }
    return texts;
  }

  void barrier() override { require(MPI_Barrier(MPI_COMM_WORLD), "a barrier failed"); }

  void fail(int exit_code) noexcept override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    ::_exit(exit_code);  // standard output was not flushed on purpose: nobody's report is complete
  }

 private:
  MPI_Request* new_request() {
    requests_.push_back(MPI_REQUEST_NULL);
    return &requests_.back();
  }

  template <class Post>
  static void each_piece(std::uint64_t bytes, const Post& post) {
    for (std::uint64_t at = 0; at < bytes; at += kPieceBytes) {
      require(post(at, static_cast<int>(std::min(kPieceBytes, bytes - at))),
              "an exchange between ranks cannot start");
    }
  }

  void watch_neighbours(int lost_exit_code, const OnRankLost& on_lost) {
    char host[256] = {}, space[64] = {};
    ::gethostname(host, sizeof host - 1);
    // A process number means something only inside its name space (containers of one host).
    const ssize_t length = ::readlink("/proc/self/ns/pid", space, sizeof space - 1);
    const std::string place = std::string(host) + " " +
                              std::string(space, length > 0 ? static_cast<std::size_t>(length) : 0);
    const std::vector<std::string> all = gather(place + " " + std::to_string(::getpid()));
    std::vector<std::pair<int, pid_t>> neighbours;
    for (int other = 0; other < size_; ++other) {
      const std::string& text = all[static_cast<std::size_t>(other)];
      const std::size_t at = text.rfind(' ');
      if (other == rank_ || text.compare(0, at, place) != 0) continue;
      neighbours.emplace_back(other, static_cast<pid_t>(std::stol(text.substr(at + 1))));
    }
    if (neighbours.empty()) return;
    const std::string name = host;
    watch_ = std::make_unique<Watch>(neighbours, [this, lost_exit_code, on_lost, name](int rank) {
      on_lost("rank " + std::to_string(rank) + " on " + name +
              " ended before the others: killed, or out of memory; all ranks end");
      fail(lost_exit_code);
    });
  }

  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> requests_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<ProgressThread> progress_;
};

std::unique_ptr<Communicator> start(int lost_exit_code, const OnRankLost& on_lost) {
  return std::make_unique<MpiRank>(lost_exit_code, on_lost);
}

}  // namespace
}  // namespace csrkit::ranks

extern "C" const csrkit::ranks::MpiFace* csrkit_mpi_face() {
  static const csrkit::ranks::MpiFace face = {CSRKIT_BUILD_ID, csrkit::ranks::start};
  return &face;
}
