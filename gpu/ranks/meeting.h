// A barrier between GPUs of several processes, without their hosts.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace csrkit::gpu {

/// One rank's end. Each rank writes the number of the meeting into the flags of all others, and
/// waits until all others have written theirs into its own: 9 us on two H200.
class Meeting {
 public:
  /// `flags`: this rank's, one for each rank, zero before any other rank makes its Meeting.
  /// `theirs`: those of all ranks, readable and writable from the current device. A rank that does
  /// not come within `seconds` is given up. Throws DeviceError, MemoryError.
  Meeting(int rank, unsigned* flags, const std::vector<unsigned*>& theirs, double seconds);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// Work queued in `stream` after this begins when all others have come. All ranks must queue
  /// equally many meetings.
  void queue(cudaStream_t stream) const;
  /// A rank that was given up, or -1. After one was given up, no meeting waits.
  int missing() const;

 private:
  int rank_, ranks_;
  unsigned* flags_;
  double seconds_;
  unsigned** theirs_ = nullptr;  // on the device: addresses of this rank's flag at every rank
  unsigned* count_ = nullptr;    // on the device: meetings so far
  int* missing_ = nullptr;       // page-locked: one more than the rank's number, or 0
};

}  // namespace csrkit::gpu
