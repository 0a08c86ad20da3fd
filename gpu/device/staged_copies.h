// Large copies between the device and memory of the host that is not page-locked. The driver does
// them with one thread, at 5 to 13 GB/s on two hosts with H200; threads with page-locked pieces of
// their own keep the copy engine busy (docs/lab/2026-11-26-sparse-products-on-two-gpus.md).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace csrkit::gpu {

/// Bytes that go from one place to another; neither is page-locked on the host's side.
struct StagedCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::uint64_t bytes = 0;
};

/// Queued in `stream` of the current device; returns when all of it is there. `threads`, as in
/// team_size, empty pieces that the process keeps, 4 MiB a thread. Few bytes, one thread, and a
/// system that refuses to lock memory: the driver alone. New pages of the host come to be by the
/// threads that write to them.
void copy_to_host(const std::vector<StagedCopy>& copies, int threads, cudaStream_t stream);

/// The other way. Without an UploadTeam it may return before all of it is there: what is copied
/// must stay until the stream got there.
void upload(const std::vector<StagedCopy>& copies, cudaStream_t stream);

/// In its scope the calling thread's uploads are done by `threads`, as in team_size.
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
