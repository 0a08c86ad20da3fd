// How ranks talk to each other. A rank is a process that MPI started, or a thread of this process.
// Distributed products know only the few calls below, so that another way of moving data (NCCL
// between GPUs, whose start() would queue into a stream) is just another implementation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace csrkit::ranks {

struct Outgoing {
  int to = 0;
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

struct Incoming {
  int from = 0;
  void* data = nullptr;
  std::uint64_t bytes = 0;
};

/// Another rank failed, and reports why itself. Thrown by the ranks that wait for it.
struct RankLost : Error {
  using Error::Error;
};

/// One rank's end of the line. Every rank makes the same calls in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Begins sends and receives, which go on while this rank computes. Until finish() the caller may
  /// neither change outgoing data nor touch incoming data. Between two ranks messages arrive in the
  /// order in which they were sent; sizes must agree. A message of 0 bytes is not sent.
  virtual void start(const std::vector<Outgoing>& outgoing,
                     const std::vector<Incoming>& incoming) = 0;
  virtual void finish() = 0;

  /// The texts of all ranks, in their order, on every rank. Any bytes.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;

  /// Returns when every rank has called it.
  virtual void barrier() = 0;

  /// Gives up between start() and finish(). Threads: as fail(). Processes: nothing; the rank whose
  /// exception did not let it finish calls fail() next.
  virtual void abandon() noexcept {}

  /// Says that this rank cannot go on. Processes: all of them end, with this exit code. Threads:
  /// those that wait get RankLost; when this returns, none reads this rank's outgoing data.
  virtual void fail(int exit_code) noexcept = 0;
};

/// An exchange under way: start() now, finish() when it is asked for. If an exception comes first,
/// the exchange is abandoned before the memory goes that other ranks read.
class Exchange {
 public:
  Exchange(Communicator& communicator, const std::vector<Outgoing>& outgoing,
           const std::vector<Incoming>& incoming)
      : communicator_(communicator) {
    communicator_.start(outgoing, incoming);
  }
  ~Exchange() {
    if (!is_finished_) communicator_.abandon();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void finish() {
    communicator_.finish();
    is_finished_ = true;
  }

 private:
  Communicator& communicator_;
  bool is_finished_ = false;
};

}  // namespace csrkit::ranks
