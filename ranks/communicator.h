// What ranks say to each other: a rank is a process that MPI started, or a thread of this one. The
// few calls below are all that distributed products know of it, so that another way of moving data
// (NCCL between GPUs, whose start() would queue into a stream) is another implementation.
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

/// Another rank failed, and says itself why. Thrown by whoever waits for it, if it still can.
struct RankLost : Error {
  using Error::Error;
};

/// One rank's end of the line. Every rank makes the same calls in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends and receives begin, and go on while this rank computes. What is sent must stay as it is,
  /// and what is received must not be touched, until finish(). Between two ranks messages arrive in
  /// the order in which they were sent; sizes must agree. Nothing is sent for 0 bytes.
  virtual void start(const std::vector<Outgoing>& outgoing,
                     const std::vector<Incoming>& incoming) = 0;
  virtual void finish() = 0;

  /// The texts of all ranks, in their order, on every rank. Any bytes.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;

  /// Returns when every rank has called it.
  virtual void barrier() = 0;

  /// This rank cannot go on. Processes: all of them end, with this exit code. Threads: whoever
  /// waits gets RankLost, and when it returns nobody reads what this rank was sending.
  virtual void fail(int exit_code) noexcept = 0;
};

}  // namespace csrkit::ranks
