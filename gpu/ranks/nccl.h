// NCCL, opened at run time: builds need none of its headers, and only --exchange nccl needs the
// library.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace csrkit::gpu {

/// The part of NCCL's interface (2.7 and newer) that is used here. Tests compare it with nccl.h
/// where that is installed.
struct NcclId {
  char bytes[128];
};
using NcclComm = struct ncclComm*;
inline constexpr int kNcclSuccess = 0, kNcclInProgress = 7, kNcclBytes = 0;

struct NcclLibrary {
  int (*get_unique_id)(NcclId*) = nullptr;
  int (*comm_init_rank)(NcclComm*, int ranks, NcclId, int rank) = nullptr;
  int (*comm_destroy)(NcclComm) = nullptr;
  int (*comm_abort)(NcclComm) = nullptr;
  int (*comm_get_async_error)(NcclComm, int* error) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void*, std::size_t count, int type, int peer, NcclComm, cudaStream_t) = nullptr;
  int (*recv)(void*, std::size_t count, int type, int peer, NcclComm, cudaStream_t) = nullptr;
  const char* (*get_error_string)(int) = nullptr;
};

/// Throws UsageError, with what to do, where libnccl.so.2 cannot be opened.
const NcclLibrary& nccl_library();
/// "" if the library can be used, else the reason.
std::string why_no_nccl();

/// Throws DeviceError, which names the rank, unless `result` is success.
void require_nccl(const NcclLibrary& nccl, int result, const char* what, int rank);

/// One rank's communicator. It counts the bytes that it sends and receives.
class NcclRank {
 public:
  NcclRank(const NcclLibrary& nccl, int rank) : nccl_(&nccl), rank_(rank) {}
  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  /// Joins on the current device. Call it within a group if several ranks of a process join.
  void join(int ranks, const NcclId& id);
  /// Within a group: queued when it ends.
  void send(const void* data, std::uint64_t bytes, int to, cudaStream_t stream);
  void receive(void* data, std::uint64_t bytes, int from, cudaStream_t stream);

  /// Throws DeviceError if an exchange has failed asynchronously.
  void require_healthy();
  /// Ends exchanges under way, and so those of the ranks that wait for them.
  void abort() noexcept;

  void forget_bytes() { bytes_sent_ = bytes_received_ = 0; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  const NcclLibrary* nccl_;
  int rank_;
  NcclComm comm_ = nullptr;
  std::uint64_t bytes_sent_ = 0, bytes_received_ = 0;
};

/// Runs `calls` between ncclGroupStart and ncclGroupEnd: one group, of any number of this process's
/// ranks.
template <class Calls>
void nccl_group(const NcclLibrary& nccl, int rank, const Calls& calls) {
  require_nccl(nccl, nccl.group_start(), "ncclGroupStart", rank);
  try {
    calls();
  } catch (...) {
    nccl.group_end();
    throw;
  }
  require_nccl(nccl, nccl.group_end(), "ncclGroupEnd", rank);
}

}  // namespace csrkit::gpu
