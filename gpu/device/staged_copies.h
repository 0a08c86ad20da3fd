// Large copies between the device and host memory that is not page-locked. The driver uses one
// thread, and reached 5 to 13 GB/s on two hosts with H200. Several threads with page-locked pieces
// keep the copy engine busy (docs/lab/2026-11-26-sparse-products-on-two-gpus.md).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace csrkit::gpu {

/// One copy; the host's side is not page-locked.
struct StagedCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::uint64_t bytes = 0;
};

/// Copies to the host, in `stream` of the current device; returns when everything has arrived. Up
/// to `threads` threads (as in team_size) take part, with 4 MiB of page-locked memory each, which
/// the process keeps. The driver copies alone where there are few bytes or one thread, or where the
/// system refuses to lock memory. Fresh host pages are first touched by the threads that write to
/// them.
void copy_to_host(const std::vector<StagedCopy>& copies, int threads, cudaStream_t stream);

/// Copies to the device. Without an UploadTeam it may return before everything has arrived: the
/// source must stay until the stream has copied it.
void upload(const std::vector<StagedCopy>& copies, cudaStream_t stream);

/// In its scope the calling thread's uploads use `threads` threads (as in team_size).
class UploadTeam {
 public:
  explicit UploadTeam(int threads);
  ~UploadTeam();
  UploadTeam(const UploadTeam&) = delete;
  UploadTeam& operator=(const UploadTeam&) = delete;

 private:
  int before_;
};

}  // namespace csrkit::gpu
